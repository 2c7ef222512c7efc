//! The handshake of a connection: both ends prove to each other that they know the session's
//! secret, which neither sends.
//!
//! ```text
//!   connecting:  nonce 16 | own rank 4 | rank that is meant 4 | length of the name 1 | name
//!   accepting:   nonce 16 | proof 32
//!   connecting:  proof 32, and at once its first bytes
//! ```
//!
//! Numbers are little-endian. A proof is BLAKE3 (O'Connor et al., 2020), with a key derived from
//! the secret. It covers the purpose, the proving side, and all that was sent before. Both nonces
//! are in it, so a recording is useless later. The side is in it, so a proof that is sent back
//! proves nothing. The purpose and the ranks are in it, so it serves nowhere else. The connecting
//! end sees the other's proof before it sends its own. TCP carries what follows, neither sealed nor
//! encrypted.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::Rank;
use super::launch_info::Secret;

const NONCE: usize = 16;
const PROOF: usize = blake3::OUT_LEN;
/// Bytes of a challenge, which the accepting end sends.
pub const CHALLENGE: usize = NONCE + PROOF;
/// Bytes of an opening without its name.
const FIXED: usize = NONCE + 4 + 4 + 1;
/// Longest name that is sent, in characters of up to four bytes each.
const NAME_MAX: usize = 60;
/// Longest name that is sent, in bytes.
pub const NAME_BYTES: usize = 4 * NAME_MAX;
/// Rank that a connecting process means where there is no process: at a bootstrap or a starter.
pub const NO_RANK: Rank = Rank::MAX;
/// Time for which a caller tries again after a flood of strangers had it cut off. The pauses grow.
pub const AGAIN: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(100);
/// Number of tries of a caller that got no answer to its query for a host's card (ARP). A lossy
/// network may drop the queries or the answers. The system itself sends three queries a try, in as
/// many seconds.
const UNREACHED_TRIES: u32 = 3;

/// The purpose of a connection. A proof for one purpose does not serve for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Frames between two processes.
    Frames = 1,
    /// A question to the bootstrap.
    Bootstrap = 2,
    /// A request to the starter.
    Starter = 3,
}

/// The end that proves.
#[derive(Debug, Clone, Copy)]
enum Side {
    Connects = 1,
    Accepts = 2,
}

/// The facts on which both ends must agree.
#[derive(Debug, Clone, Copy)]
struct Shared {
    secret: Secret,
    purpose: Purpose,
}

impl Shared {
    /// Returns the proof of one side. Comparing two such hashes takes a time that does not depend
    /// on where they differ.
    fn proof(self, side: Side, opening: &[u8], nonce: &[u8]) -> blake3::Hash {
        let key = self.secret.derive("antiphon panda: begin of a connection");
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher.update(&[self.purpose as u8, side as u8]);
        // The opening holds its own length, so no byte can move from one part to the other.
        hasher.update(opening).update(nonce);
        hasher.finalize()
    }
}

/// Cuts a process's name to the length that is sent.
pub fn short(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

/// The end that connects.
#[derive(Debug)]
pub struct Connecting {
    shared: Shared,
    opening: Vec<u8>,
}

impl Connecting {
    /// Makes an opening. `name` is for messages to people, and is cut to 60 characters.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn new(
        secret: Secret,
        purpose: Purpose,
        (own, meant): (Rank, Rank),
        name: &str,
    ) -> io::Result<Self> {
        let name = short(name);
        let mut opening = nonce()?.to_vec();
        opening.extend(own.to_le_bytes());
        opening.extend(meant.to_le_bytes());
        opening.push(name.len() as u8);
        opening.extend(name.as_bytes());
        let shared = Shared { secret, purpose };
        Ok(Self { shared, opening })
    }

    /// Returns the first bytes to send.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// Returns the proof for a challenge; `None` if the challenge does not prove that the other end
    /// knows the secret.
    pub fn answer(&self, challenge: &[u8; CHALLENGE]) -> Option<[u8; PROOF]> {
        let (nonce, theirs) = challenge.split_at(NONCE);
        let theirs = blake3::Hash::from_slice(theirs).ok()?;
        let right = self.shared.proof(Side::Accepts, &self.opening, nonce);
        let own = || self.shared.proof(Side::Connects, &self.opening, nonce);
        (theirs == right).then(|| *own().as_bytes())
    }

    /// Reads the challenge and sends the proof.
    ///
    /// # Errors
    ///
    /// The other end hangs up, is silent too long, or does not know the secret.
    fn finish(&self, stream: &TcpStream, until: Instant) -> io::Result<()> {
        let mut challenge = [0; CHALLENGE];
        hear(stream, &mut challenge, until)?;
        self.prove(&challenge, stream)
    }

    /// Sends the proof for a challenge.
    ///
    /// # Errors
    ///
    /// The other end hangs up, or does not know the secret.
    pub fn prove(&self, challenge: &[u8; CHALLENGE], mut stream: &TcpStream) -> io::Result<()> {
        let proof = self.answer(challenge).ok_or_else(|| {
            let why = "who listens there does not know this session's secret";
            io::Error::new(io::ErrorKind::PermissionDenied, why)
        })?;
        stream.write_all(&proof)
    }
}

/// Reads bytes of the other end.
///
/// # Errors
///
/// The other end hangs up, or is silent too long.
fn hear(mut stream: &TcpStream, said: &mut [u8], until: Instant) -> io::Result<()> {
    let mut have = 0;
    while have < said.len() {
        // Bytes that have come already are read even after the time.
        let left = until.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut said[have..]) {
            Ok(0) => return Err(hung_up()),
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.set_read_timeout(None)
}

/// Makes the error of a connection that the other end closed too early.
pub fn hung_up() -> io::Error {
    let why = "who listens there hung up: it has ended, or is not of this session";
    io::Error::new(io::ErrorKind::UnexpectedEof, why)
}

/// Connects to a process that must know the secret, and proves to know it.
///
/// # Errors
///
/// No process listens there. Or the other end hangs up, is silent for longer than `patience`, or
/// does not know the secret.
pub fn connect(
    address: impl ToSocketAddrs,
    secret: Secret,
    purpose: Purpose,
    own: Rank,
    patience: Duration,
) -> io::Result<TcpStream> {
    try_again(|| {
        let connecting = Connecting::new(secret, purpose, (own, NO_RANK), "")?;
        let mut stream = connect_within(&address, patience)?;
        // The proof and the bytes behind it are two small writes. The system would hold the second
        // one back until the first is acknowledged, which takes up to 40 ms.
        stream.set_nodelay(true)?;
        stream.write_all(connecting.opening())?;
        connecting.finish(&stream, Instant::now() + patience)?;
        Ok(stream)
    })
}

/// Runs an attempt, and runs it again as long as another try may succeed.
///
/// # Errors
///
/// The last attempt's.
pub fn try_again<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let until = Instant::now() + AGAIN;
    let mut tries = 1;
    loop {
        let ended = attempt();
        let pause = (ended.as_ref().err()).and_then(|e| pause_before_again(e, tries, until));
        match pause {
            Some(pause) => std::thread::sleep(pause),
            None => return ended,
        }
        tries += 1;
    }
}

/// Connects to the first address that accepts. Without a limit, the system would wait for minutes
/// for a silent host.
fn connect_within(address: impl ToSocketAddrs, patience: Duration) -> io::Result<TcpStream> {
    let mut tried = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in address.to_socket_addrs()? {
        tried = TcpStream::connect_timeout(&address, patience);
        if tried.is_ok() {
            break;
        }
    }
    tried
}

/// Returns the pause before another try, if one may succeed before a time.
pub fn pause_before_again(error: &io::Error, tries: u32, until: Instant) -> Option<Duration> {
    let pause = (PAUSE * tries).min(PAUSE_MAX);
    let is_early = Instant::now() + pause < until;
    let is_worth_it = match error.kind() {
        io::ErrorKind::HostUnreachable => tries < UNREACHED_TRIES,
        _ => is_early && is_hung_up(error),
    };
    is_worth_it.then_some(pause)
}

/// Returns whether the other end closed the connection.
pub fn is_hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    [BrokenPipe, ConnectionReset, UnexpectedEof].contains(&error.kind())
}

/// The end that accepts. Its memory is bounded, whatever the other end sends.
#[derive(Debug)]
pub struct Accepting {
    shared: Shared,
    own: Rank,
    bytes: Vec<u8>,
    /// Nonce of the challenge, once the opening is there.
    nonce: Option<[u8; NONCE]>,
}

/// Progress of the end that accepts.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// More must come.
    More,
    /// The other end knows the secret: its rank and its name.
    Known(Rank, String),
}

impl Accepting {
    pub fn new(secret: Secret, purpose: Purpose, own: Rank) -> Self {
        Self {
            shared: Shared { secret, purpose },
            own,
            bytes: Vec::new(),
            nonce: None,
        }
    }

    /// Reads once, and never beyond the handshake: later bytes stay in the stream.
    ///
    /// # Errors
    ///
    /// The other end is a stranger, or has ended. Or the stream fails, also because nothing is
    /// there.
    pub fn read(&mut self, mut stream: impl Read + Write) -> io::Result<Progress> {
        let mut part = [0; FIXED + u8::MAX as usize];
        let count = stream.read(&mut part[..self.lacks()])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes.extend(&part[..count]);
        if self.lacks() > 0 {
            return Ok(Progress::More);
        }
        match self.nonce {
            None => {
                // A new connection of ours has room for these few bytes.
                stream.write_all(&self.challenge()?)?;
                Ok(Progress::More)
            }
            Some(nonce) => self.known(&nonce).ok_or_else(stranger),
        }
    }

    /// Returns how many bytes must still come before a decision; at least one until then.
    fn lacks(&self) -> usize {
        let length = match self.bytes.get(FIXED - 1) {
            None => FIXED,
            Some(name) => FIXED + usize::from(*name),
        };
        let proof = if self.nonce.is_some() { PROOF } else { 0 };
        length + proof - self.bytes.len()
    }

    /// Makes the challenge, once the opening is there.
    fn challenge(&mut self) -> io::Result<Vec<u8>> {
        if self.meant() != self.own {
            return Err(stranger());
        }
        let nonce = nonce()?;
        self.nonce = Some(nonce);
        let proof = self.shared.proof(Side::Accepts, &self.bytes, &nonce);
        Ok([&nonce[..], proof.as_bytes()].concat())
    }

    fn known(&self, nonce: &[u8]) -> Option<Progress> {
        let (opening, theirs) = self.bytes.split_at(self.bytes.len() - PROOF);
        let theirs = blake3::Hash::from_slice(theirs).ok()?;
        let is_right = theirs == self.shared.proof(Side::Connects, opening, nonce);
        let name = String::from_utf8_lossy(&opening[FIXED..]).into_owned();
        is_right.then(|| Progress::Known(self.rank_at(NONCE), name))
    }

    fn meant(&self) -> Rank {
        self.rank_at(NONCE + 4)
    }

    fn rank_at(&self, at: usize) -> Rank {
        let bytes = self.bytes[at..].first_chunk();
        Rank::from_le_bytes(*bytes.expect("an opening is longer"))
    }
}

fn stranger() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn nonce() -> io::Result<[u8; NONCE]> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(nonce)
}

#[cfg(test)]
mod tests;
