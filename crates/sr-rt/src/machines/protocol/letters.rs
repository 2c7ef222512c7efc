//! Messages between virtual machines.
//!
//! A message consists of the length of its letter, its number, the letter, and a body of raw bytes:
//! a block, parameters, or text. All machines run one executable. So addresses of its statics are sent
//! unchanged, with the sender's address of one of them ([`Base`]). An address of dynamic memory has
//! a meaning only on its own machine.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use antiphon_panda::Message;

/// Bytes before the letter in a message.
const HEAD: usize = 8;

/// Room for the head and the letter of an invocation.
const USUAL: usize = 96;

/// The address of the program's description at the sender.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Base(pub u64);

/// A capability.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CapSent {
    pub op: u64,
    pub serial: u32,
    pub machine: u32,
}

/// The place in the source that a message is about, and the priority of its sender.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Origin {
    pub base: Base,
    pub at: u64,
    pub priority: i32,
}

/// The receiver of an invocation's results.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Awaits {
    Nobody,
    /// A process of a machine, known by a number there. The invocation was passed on so many times.
    Process {
        home: u32,
        token: u64,
        hops: u32,
    },
}

/// The address that the body's block has at its sender.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct BlockSent {
    pub base: Base,
    pub address: u64,
    pub size: u32,
}

/// The place where a virtual machine is to be created.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Where {
    /// On a machine of this number.
    Number(i32),
    /// On a host of this name.
    Host(String),
}

/// A machine's report about its blocked processes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Blocked {
    pub lines: Vec<String>,
    pub is_deadlock: bool,
}

/// A letter. Those that are work make a machine active; see [`is_work`](Letter::is_work).
#[derive(Debug, Serialize, Deserialize)]
pub enum Letter {
    /// Invokes an operation; the block follows.
    Invoke {
        origin: Origin,
        awaits: Awaits,
        block: BlockSent,
    },
    /// The block with its results.
    Answer {
        token: u64,
        block: BlockSent,
    },
    /// Takes an invocation for a process of another machine.
    Receive {
        origin: Origin,
        token: u64,
        cap: CapSent,
        has_else: bool,
    },
    /// The invocation that was taken.
    Received {
        token: u64,
        taken: Option<(Awaits, BlockSent)>,
    },
    /// An invocation that the receiver waits for was sent to a machine, or without a sender has come
    /// there.
    Moved {
        token: u64,
        to: u32,
        sender: Option<u32>,
        hops: u32,
    },
    DestroyOp {
        origin: Origin,
        cap: CapSent,
    },
    /// Creates a resource; its parameters follow.
    Create {
        origin: Origin,
        token: u64,
        component: u64,
        bytes: u64,
        fields: Vec<(u32, i32)>,
    },
    /// An instance was created.
    Made {
        token: u64,
        instance: u64,
        serial: u32,
    },
    Destroy {
        origin: Origin,
        token: u64,
        instance: u64,
        serial: u32,
    },
    CreateMachine {
        token: u64,
        place: Where,
    },
    MachineMade {
        token: u64,
        made: Result<u32, String>,
    },
    DestroyMachine {
        token: u64,
        machine: u32,
    },
    Locate {
        number: i32,
        host: String,
        path: String,
    },
    /// The program stops, with finals.
    Stop,
    /// Runs finals: those of globals, and of all instances first if the machine is destroyed.
    Finals {
        token: u64,
        all: bool,
    },
    /// Asks for the processes that are blocked.
    Report {
        token: u64,
    },
    Reported {
        token: u64,
        blocked: Blocked,
    },
    /// Asks for a line of the program's input.
    Read {
        token: u64,
    },
    /// The line, in the body.
    Line {
        token: u64,
    },
    /// A request is done.
    Done {
        token: u64,
    },
    /// A machine was destroyed.
    Ended {
        machine: u32,
    },
    /// A machine is lost, and why. The receiver may have joined after that.
    Lost {
        machine: u32,
        why: String,
    },

    /// A new machine has started.
    Hello {
        hash: u64,
    },
    /// Output of a machine, in the body.
    Output {
        descriptor: i32,
    },
    /// The first machine has taken this much of a machine's output.
    Written {
        count: u64,
    },
    /// Asks where each process is.
    Where,
    /// A line for each process.
    Places {
        lines: Vec<String>,
    },
    /// Asks for bytes of an instance.
    Peek {
        token: u64,
        instance: u64,
        serial: u32,
        offset: u64,
        bytes: u32,
    },
    /// Asks how many invocations are pending.
    Pending {
        token: u64,
        cap: CapSent,
    },
    /// Makes an idle machine part of the program if it is on this host, and says the host's number.
    Claim {
        token: u64,
        host: String,
        number: i32,
    },
    /// The answer, in the body; none if the object no longer exists.
    Known {
        token: u64,
        base: Base,
        is_there: bool,
    },
    /// The program ends with this code. Error messages have named these lost machines.
    Exit {
        code: i32,
        told: Vec<u32>,
    },
    /// The machine must end.
    Quit,
    /// A piece of a machine's timeline, in the body.
    Timeline,
    /// A machine's counts, in the body.
    Counts,
}

impl Letter {
    /// Whether it may make a machine at rest active. Other letters are answered by the thread that
    /// receives them.
    pub fn is_work(&self) -> bool {
        !matches!(
            self,
            Letter::Hello { .. }
                | Letter::Output { .. }
                | Letter::Written { .. }
                | Letter::Places { .. }
                | Letter::Peek { .. }
                | Letter::Pending { .. }
                | Letter::Claim { .. }
                | Letter::Known { .. }
                | Letter::Exit { .. }
                | Letter::Quit
                | Letter::Timeline
                | Letter::Counts
        )
    }

    /// Returns the name of a letter of work, for timelines.
    pub fn kind(&self) -> &'static str {
        match self {
            Letter::Invoke { awaits, .. } => match awaits {
                Awaits::Nobody => "send",
                Awaits::Process { .. } => "call",
            },
            Letter::Answer { .. } => "answer",
            Letter::Receive { .. } => "receive",
            Letter::Received { .. } => "received",
            Letter::Moved { .. } => "moved",
            Letter::DestroyOp { .. } | Letter::Destroy { .. } => "destroy",
            Letter::Create { .. } => "create",
            Letter::Made { .. } => "created",
            Letter::CreateMachine { .. } => "create vm",
            Letter::MachineMade { .. } => "vm created",
            Letter::DestroyMachine { .. } => "destroy vm",
            Letter::Locate { .. } => "locate",
            Letter::Stop => "stop",
            Letter::Finals { .. } => "finals",
            Letter::Report { .. } | Letter::Reported { .. } | Letter::Where => "report",
            Letter::Read { .. } | Letter::Line { .. } => "read",
            Letter::Done { .. } => "done",
            _ => "message",
        }
    }

    /// Returns the message of a letter and its body. In timelines the message has that number.
    pub fn sealed(&self, number: u32, body: impl Into<Message>) -> Message {
        let mut bytes = Vec::with_capacity(USUAL);
        bytes.resize(HEAD, 0);
        let mut bytes = postcard::to_extend(self, bytes).unwrap_or_else(|_| vec![0; HEAD]);
        let length = (bytes.len() - HEAD) as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes[4..HEAD].copy_from_slice(&number.to_le_bytes());
        let mut message = Message::from(bytes);
        message.append(body.into());
        message
    }

    /// Opens a message, and returns its number, too. Returns `None` if it is not one of ours.
    pub fn opened(message: &Message) -> Option<(Letter, u32, Bytes)> {
        let bytes = message.to_bytes();
        let word = |at: usize| {
            bytes
                .get(at..at + 4)?
                .try_into()
                .ok()
                .map(u32::from_le_bytes)
        };
        let (length, number) = (word(0)?, word(4)?);
        let end = (length as usize).checked_add(HEAD)?;
        let letter = postcard::from_bytes(bytes.get(HEAD..end)?).ok()?;
        Some((letter, number, bytes.slice(end..)))
    }
}
