//! Verdicts: the possible translation of a task, and the reasons.

use crate::names::At;

/// The class of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It only serves calls: it becomes a protected object (section 6.1 of the paper).
    Accepting,
    /// It only calls its clients: it becomes a protected object that the clients call (section
    /// 6.2).
    Calling,
    /// It accepts calls only as a signal to begin, then works on its own.
    Handshake,
    /// It serves calls and works on its own: only the general scheme fits (section 5).
    General,
    /// It remains a task, and its rendezvous go through protected objects (section 5), because the
    /// user asked for that.
    Rendezvous,
    /// It does not change.
    Kept,
}

impl Class {
    /// Whether a protected object replaces the task.
    pub fn is_replaced(self) -> bool {
        matches!(self, Class::Accepting | Class::Calling)
    }

    /// Whether the translation changes the task: it replaces the task, or redirects its rendezvous.
    pub fn is_translated(self) -> bool {
        self.is_replaced() || self == Class::Rendezvous
    }

    /// Returns the word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Class::Accepting => "accepting server",
            Class::Calling => "calling server",
            Class::Handshake => "start-up handshake",
            Class::General => "general",
            Class::Rendezvous => "general scheme",
            Class::Kept => "kept",
        }
    }

    /// Returns the consequence, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::Accepting => "it only serves calls and becomes a protected object",
            Class::Calling => {
                "it only calls its clients and becomes a protected object that they call"
            }
            Class::Handshake => {
                "it is told where to begin and then works on its own; it stays a task"
            }
            Class::General => "it serves calls and also works on its own; it stays a task",
            Class::Rendezvous => "it stays a task, and its rendezvous go through protected objects",
            Class::Kept => "it stays as it is",
        }
    }
}

/// The rule behind a reason. Its code does not change between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // each is explained by `text`
pub enum Rule {
    NoAccept,
    UsedAsTask,
    BlocksBetween,
    BlocksInAccept,
    UnknownCall,
    InputOutput,
    WorksBeside,
    ElsePart,
    DelayAlternative,
    OutsideGuard,
    Goto,
    NestedAccept,
    Declaration,
    Access,
    Identity,
    Prologue,
    Interface,
    Handler,
    Representation,
    LoopShape,
    Unresolved,
    Handshake,
    ServesNobody,
    Polling,
    NeverEnds,
    Ceiling,
    Checks,
    RunsInCaller,
    TimerStep,
    ConditionalCall,
    Parameter,
    Requeue,
    Terminate,
}

impl Rule {
    /// All rules, in the order of their codes.
    pub const ALL: [Rule; 33] = [
        Rule::NoAccept,
        Rule::UsedAsTask,
        Rule::BlocksBetween,
        Rule::BlocksInAccept,
        Rule::UnknownCall,
        Rule::InputOutput,
        Rule::WorksBeside,
        Rule::ElsePart,
        Rule::DelayAlternative,
        Rule::OutsideGuard,
        Rule::Goto,
        Rule::NestedAccept,
        Rule::Declaration,
        Rule::Access,
        Rule::Identity,
        Rule::Prologue,
        Rule::Interface,
        Rule::Handler,
        Rule::Representation,
        Rule::LoopShape,
        Rule::Unresolved,
        Rule::Handshake,
        Rule::ServesNobody,
        Rule::Polling,
        Rule::NeverEnds,
        Rule::Ceiling,
        Rule::Checks,
        Rule::RunsInCaller,
        Rule::TimerStep,
        Rule::ConditionalCall,
        Rule::Parameter,
        Rule::Requeue,
        Rule::Terminate,
    ];

    /// Returns the stable code: `T01` and on for obstacles, with the same numbering for notes.
    pub fn code(self) -> String {
        format!(
            "T{:02}",
            Rule::ALL.iter().position(|&r| r == self).unwrap_or(0) + 1
        )
    }

    /// Returns the subject of the rule, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Rule::NoAccept => "the task accepts no call",
            Rule::UsedAsTask => "the task is used as only a task can be",
            Rule::BlocksBetween => "potentially blocking operation between accepts (RM 9.5.1)",
            Rule::BlocksInAccept => "potentially blocking operation inside an accept (RM 9.5.1)",
            Rule::UnknownCall => "call of a subprogram whose body was not given",
            Rule::InputOutput => "input or output in a protected action (RM 9.5.1 (18))",
            Rule::WorksBeside => "work that runs beside the caller",
            Rule::ElsePart => "an else part that polls and does something",
            Rule::DelayAlternative => "a delay alternative that no timing event can replace",
            Rule::OutsideGuard => "a condition that code outside the task changes",
            Rule::Goto => "a goto across synchronization points",
            Rule::NestedAccept => "an accept inside an accept that cannot be followed",
            Rule::Declaration => "a declaration that cannot move out of the task body",
            Rule::Access => "the address of a variable of the task is taken",
            Rule::Identity => "the identity of the task is asked for",
            Rule::Prologue => "statements before the first accept have no place to go",
            Rule::Interface => "the task implements an interface that a protected type cannot",
            Rule::Handler => "exception handling that cannot follow",
            Rule::Representation => "a representation clause or pragma of tasks",
            Rule::LoopShape => "a loop that cannot become a state machine",
            Rule::Unresolved => "a name that could not be resolved",
            Rule::Handshake => "the accepts only start the task's own work",
            Rule::ServesNobody => "an entry that no accept serves",
            Rule::Polling => "a polling alternative that can be dropped",
            Rule::NeverEnds => "the original never ends, the translation may",
            Rule::Ceiling => "a priority",
            Rule::Checks => "failing language-defined checks",
            Rule::RunsInCaller => "statements after an accept run in the caller",
            Rule::TimerStep => "the granularity of timing events",
            Rule::ConditionalCall => "a conditional call of a server that is never busy any more",
            Rule::Parameter => "a parameter or index that an object cannot keep",
            Rule::Requeue => "a requeue whose target only the task knows",
            Rule::Terminate => "a terminate alternative that nothing can take the place of",
        }
    }
}

/// One reason or note, tied to a place.
#[derive(Debug, Clone)]
pub struct Reason {
    /// The rule.
    pub rule: Rule,
    /// The place of its cause.
    pub at: At,
    /// The facts at the place, in a sentence.
    pub text: String,
    /// A possible change of the program.
    pub help: String,
}

/// The possible translation of a task, and the reasons.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The class of the task.
    pub class: Class,
    /// The obstacles to a protected object, in order of the text; empty for a server that is
    /// translated.
    pub reasons: Vec<Reason>,
    /// Notes for a reader of the translation.
    pub notes: Vec<Reason>,
}
