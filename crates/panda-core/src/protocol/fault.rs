//! Faults that are put into the protocols on purpose, for the simulator to find. Only tests can put one in, by the feature `mutants`: in every other build a [`Fault`] has no bytes and the
//! question for it is answered when it is compiled.

/// A fault that can be put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// Messages that were under way are not sent again in the next view.
    ForgetsUnordered,
    /// A coordinator does not wait for a majority.
    NeedsNoMajority,
    /// The next view begins where the coordinator is, not where the foremost member is.
    CutsAtOwn,
    /// A member that promised a ballot takes orders of the old view all the same.
    OrdersAfterPromise,
    /// A coordinator proposes its own next view although another may have been decided.
    ForgetsAccepted,
    /// A member forgets what it has delivered, which others may lack.
    ForgetsHistory,
    /// On a bus: who came late drops what has come since its question.
    ForgetsSince,
    /// Beneath the group: what went to several peers at once is taken for arrived.
    TrustsMulticast,
    /// In links: a piece that has come before is taken again.
    TakesDoubled,
    /// In requests: what was sent is taken for handed over.
    TrustsSending,
    /// In collective operations: what the last child brought is left out.
    LeavesOut,
    /// In collective operations: who waits does not ask.
    NeverAsks,
    /// In the detection of quiescence: one wave that counts alike is enough.
    TrustsOneWave,
    /// In it: an active process answers.
    CountsActive,
    /// In it: messages of a process that has left are written off.
    WritesOffLeft,
    /// In it: a wave goes on when members come or go.
    GoesOnWithWave,
    /// In it: a process does not say that it was active since its answer.
    NeverTells,
}

/// The fault that is put in, if any.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fault {
    #[cfg(feature = "mutants")]
    mutant: Option<Mutant>,
}

impl Fault {
    /// This one.
    #[cfg(feature = "mutants")]
    pub fn of(mutant: Mutant) -> Self {
        let mutant = Some(mutant);
        Self { mutant }
    }

    /// Whether it is this one.
    #[cfg(feature = "mutants")]
    pub fn is(self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// Whether it is this one: never.
    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub const fn is(self, _: Mutant) -> bool {
        false
    }
}

// Nothing of it is left in a program.
#[cfg(not(feature = "mutants"))]
const _: () = assert!(size_of::<Fault>() == 0);
