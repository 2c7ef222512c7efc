//! Faults that tests inject into the protocol, to check that they are found. Outside of this crate's
//! own tests a [`Fault`] has no bytes, and the check for it is resolved at compile time.

/// A fault that can be injected.
#[allow(dead_code, reason = "only tests put one in")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// Some answers are dropped.
    LosesAnswer,
    /// An answer leaves its wait in place.
    KeepsWait,
    /// A letter of work is not counted.
    CountsNoSending,
    /// A machine that passes an invocation on answers it, too.
    ForwardAnswers,
    /// A caller does not learn where its invocation was sent.
    ForwardsUntold,
    /// Older news about an invocation's place replaces newer news.
    BelievesOldNews,
    /// An invocation may move to a machine that is known to be gone.
    ForgetsTheGone,
    /// The loss of a machine ends no wait.
    IgnoresLoss,
    /// A verdict counts although it tells of a loss.
    TrustsVerdict,
    /// The first machine tells no other machine of a loss.
    TellsNoLoss,
    /// The end of a destroyed machine ends no wait.
    IgnoresDestruction,
}

/// The injected fault, if any.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fault {
    #[cfg(test)]
    pub mutant: Option<Mutant>,
}

impl Fault {
    /// Returns whether it is this one.
    #[inline]
    pub fn is(self, mutant: Mutant) -> bool {
        #[cfg(test)]
        return self.mutant == Some(mutant);
        #[cfg(not(test))]
        {
            let _ = mutant;
            false
        }
    }
}
