//! Faults injected into the protocols on purpose, for the simulator to find. Only tests can inject
//! one, by the feature `mutants`. In every other build a [`Fault`] has no bytes, and its query is
//! constant.

/// A fault that can be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// Messages that were under way are not sent again in the next view.
    ForgetsUnordered,
    /// A coordinator does not wait for a majority.
    NeedsNoMajority,
    /// The next view begins where the coordinator is, not where the foremost member is.
    CutsAtOwn,
    /// A member that promised a ballot still takes orders of the old view.
    OrdersAfterPromise,
    /// A coordinator proposes its own next view although another may have been decided.
    ForgetsAccepted,
    /// A member forgets what it has delivered, which others may lack.
    ForgetsHistory,
    /// Members behind the first one leave their view out of the count of places.
    MiscountsViews,
    /// A place counts as delivered before the program has been told of it.
    CountsUndelivered,
    /// In the transfer of state: a snapshot holds one event more than its place says.
    SnapshotsLate,
    /// In the transfer of state: events are handed over while the snapshot is still to be
    /// installed.
    DeliversWhileFetching,
    /// In the transfer of state: a snapshot is installed before the joiner's own events have come
    /// up to its place.
    InstallsTooEarly,
    /// On a bus: a late process drops the events since its question.
    ForgetsSince,
    /// Beneath the group: a frame to several peers at once counts as arrived.
    TrustsMulticast,
    /// In links: a piece that has come before is taken again.
    TakesDoubled,
    /// In requests: a sent message counts as handed over.
    TrustsSending,
    /// In collective operations: the last child's contribution is left out.
    LeavesOut,
    /// In collective operations: a waiting process does not ask.
    NeverAsks,
    /// In the detection of quiescence: one wave that counts alike is enough.
    TrustsOneWave,
    /// In the detection of quiescence: an active process answers.
    CountsActive,
    /// In the detection of quiescence: messages of a process that has left are written off.
    WritesOffLeft,
    /// In the detection of quiescence: a wave goes on when members come or go.
    GoesOnWithWave,
    /// In the detection of quiescence: a process does not report that it was active since its
    /// answer.
    NeverTells,
    /// In the detection of quiescence: an initiator announces counts that are older than what its
    /// own program has done since.
    AnnouncesStale,
}

/// The injected fault, if any.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fault {
    #[cfg(feature = "mutants")]
    mutant: Option<Mutant>,
}

impl Fault {
    /// Makes the fault of a mutant.
    #[cfg(feature = "mutants")]
    pub fn of(mutant: Mutant) -> Self {
        let mutant = Some(mutant);
        Self { mutant }
    }

    /// Returns whether it is this one.
    #[cfg(feature = "mutants")]
    pub fn is(self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// Returns whether it is this one: never.
    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub const fn is(self, _: Mutant) -> bool {
        false
    }
}

// No byte of it is left in a program.
#[cfg(not(feature = "mutants"))]
const _: () = assert!(size_of::<Fault>() == 0);
