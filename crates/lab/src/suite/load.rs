//! Claims about servers under load, and about subjects that speak the protocol.

use super::Placed;

/// Claims of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Summary of the claims in a sentence or two.
    pub text: String,
    /// Source of the claims.
    pub source: String,
    /// The claims.
    pub claims: Vec<ServerClaim>,
}

/// A claim that a quantity of a server, by itself or as a share of another's, lies within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerClaim {
    /// The claim in words.
    pub text: String,
    /// Quantity in question.
    pub quantity: ServerQuantity,
    /// The server, as `subject/variant`.
    pub of: String,
    /// Server that is the base; empty if the limits are of the quantity itself.
    pub against: String,
    /// Loads or tests of the claim.
    pub tests: Vec<String>,
    /// The policy and placement.
    pub run: Placed,
    /// The share, or figure, that was published, if one was.
    pub published: Option<f64>,
    /// The smallest share, or figure, at which it holds; minus infinity if there is no such limit.
    pub at_least: f64,
    /// The largest one; infinity if there is no such limit.
    pub at_most: f64,
}

/// Quantity of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerQuantity {
    /// Processor time of the server a request, or of the subject an operation.
    Cpu,
    /// Requests a second.
    Requests,
    /// The latency that 99 per cent are not above.
    P99,
    /// Proportional memory after the load or the test.
    Memory,
    /// Memory of the database's server, which serves all subjects of its kind.
    ServerMemory,
    /// Threads.
    Threads,
    /// Connections starved in the worst round, if it was the server that starved them. There is no
    /// share of it.
    Starved,
    /// Time an operation, of a subject that speaks the protocol.
    Time,
    /// Processor time of such a subject and its database together an operation.
    BothCpu,
    /// The part by which the farthest of the tests' costs misses the straight line through them.
    Deviation,
}

impl ServerClaim {
    /// Checks whether the limits are of the quantity itself, in its own unit, and not of a share.
    pub fn is_absolute(&self) -> bool {
        self.against.is_empty()
    }
}

impl ServerQuantity {
    /// Quantities of servers under load.
    pub const OF_LOADS: [ServerQuantity; 6] = [
        ServerQuantity::Cpu,
        ServerQuantity::Requests,
        ServerQuantity::P99,
        ServerQuantity::Memory,
        ServerQuantity::Threads,
        ServerQuantity::Starved,
    ];

    /// Quantities that a claim may limit by themselves, because they do not depend on the speed of
    /// the machine.
    pub const ABSOLUTE: [ServerQuantity; 3] = [
        ServerQuantity::Memory,
        ServerQuantity::Threads,
        ServerQuantity::Starved,
    ];

    /// Quantities of subjects that speak the protocol.
    pub const OF_FRAMES: [ServerQuantity; 7] = [
        ServerQuantity::Time,
        ServerQuantity::Cpu,
        ServerQuantity::BothCpu,
        ServerQuantity::Memory,
        ServerQuantity::ServerMemory,
        ServerQuantity::Threads,
        ServerQuantity::Deviation,
    ];

    /// Returns its word in suite files.
    pub fn word(self) -> &'static str {
        match self {
            ServerQuantity::Cpu => "cpu",
            ServerQuantity::Requests => "requests",
            ServerQuantity::P99 => "p99",
            ServerQuantity::Memory => "memory",
            ServerQuantity::ServerMemory => "server_memory",
            ServerQuantity::Threads => "threads",
            ServerQuantity::Starved => "starved",
            ServerQuantity::Time => "time",
            ServerQuantity::BothCpu => "both_cpu",
            ServerQuantity::Deviation => "deviation",
        }
    }
}
