//! What is claimed of servers under load.

use super::Placed;

/// Claims of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What is claimed, in a sentence or two.
    pub text: String,
    /// Where the claims are from.
    pub source: String,
    /// The claims.
    pub claims: Vec<ServerClaim>,
}

/// A claim: that a quantity of a server, as a share of another one's, lies within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerClaim {
    /// The claim in words.
    pub text: String,
    /// What it is about.
    pub quantity: ServerQuantity,
    /// The server, as `subject/variant`.
    pub of: String,
    /// The one that it is compared with.
    pub against: String,
    /// Under which loads.
    pub tests: Vec<String>,
    /// The policy and placement.
    pub run: Placed,
    /// The share that was published, if figures were.
    pub published: Option<f64>,
    /// The smallest share at which it holds; minus infinity if there is no such limit.
    pub at_least: f64,
    /// The largest one; infinity if there is no such limit.
    pub at_most: f64,
}

/// What a claim about servers is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerQuantity {
    /// Processor time a request.
    Cpu,
    /// Requests a second.
    Requests,
    /// The latency that 99 per cent are not above.
    P99,
    /// Proportional memory after the load.
    Memory,
    /// Threads.
    Threads,
}

impl ServerQuantity {
    /// All of them.
    pub const ALL: [ServerQuantity; 5] = [
        ServerQuantity::Cpu,
        ServerQuantity::Requests,
        ServerQuantity::P99,
        ServerQuantity::Memory,
        ServerQuantity::Threads,
    ];

    /// The word for it in suite files.
    pub fn word(self) -> &'static str {
        match self {
            ServerQuantity::Cpu => "cpu",
            ServerQuantity::Requests => "requests",
            ServerQuantity::P99 => "p99",
            ServerQuantity::Memory => "memory",
            ServerQuantity::Threads => "threads",
        }
    }
}
