//! Faults that tests inject into the run-time, to check that they are found. Outside of this
//! crate's own tests a [`Fault`] has no bytes, and the check for it is resolved at compile time.

/// A fault that can be injected.
#[allow(dead_code, reason = "only tests put one in")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A request does not say how far its sender has delivered.
    RequestWithoutPlace,
    /// An owner does not wait for the place of a request.
    RequestDoesNotWait,
    /// A reply does not say how far the owner has delivered.
    ReplyWithoutPlace,
    /// A caller does not wait for the place of a reply.
    ReplyDoesNotWait,
    /// A read overtakes the machine's own writes.
    ReadOvertakesOwnWrite,
    /// Blocked operations are not tried again after a write.
    DropsWakeUp,
    /// Only the first blocked operation is tried again.
    WakesFirstOnly,
    /// Blocked operations are tried again last first.
    WakesLastFirst,
    /// A write that blocks keeps the changes that it has made.
    KeepsPartialWrite,
    /// An alternative that blocks ends the search.
    EndsSearchWhereBlocked,
    /// A write is applied where it was invoked before it has its place.
    AppliesBeforePlace,
    /// The owner goes on with an object that is on its way.
    DoesNotFreeze,
    /// A write that comes after its object has left the machines is dropped.
    DropsLateWrite,
    /// An installed state counts although a write came after it was copied.
    InstallsStaleState,
    /// Blocked operations do not learn that their object has moved.
    KeepsBlockedAtMove,
    /// Blocked operations lose their order where their object moves.
    ForgetsTurns,
    /// A fork does not count its objects.
    ForgetsGrant,
    /// Objects stay when their last sharer ends.
    NeverDeletes,
    /// Objects of a lost machine are waited for.
    IgnoresLoss,
    /// Blocked operations of a lost machine are executed.
    ExecutesForTheLost,
    /// A snapshot leaves out blocked operations.
    ForgetsBlockedInSnapshot,
    /// A joiner does not count the work that its snapshot holds.
    MiscountsAtJoin,
    /// A blocked process counts as active.
    CountsBlockedAsActive,
    /// A process that goes on does not count as active.
    ForgetsActivity,
    /// A replica skips every eighth write.
    SkipsWrite,
    /// An operation on an owned object runs twice.
    ExecutesTwice,
    /// A parallel operation sees its own writes to other parts.
    SeesOwnWrites,
    /// A machine goes on with the parts of others that came for the operation before.
    SeesStaleParts,
    /// Parts for an operation are sent before those before it are executed.
    SendsPartsEarly,
    /// A machine that asks for a part gets it as it is now.
    ServesNewest,
    /// The changes of a sequential operation stay on its machine.
    KeepsWrittenParts,
    /// A first run does not wait for the parts that others have fetched.
    RecordsAlone,
    /// An operation ends when one owner has executed it.
    EndsWithFirstShare,
}

/// The injected fault, if any.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fault {
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
