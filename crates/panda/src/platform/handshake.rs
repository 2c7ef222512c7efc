//! How the two ends of a connection prove to each other that they know the session's secret, which neither says.
//!
//! ```text
//!   who connects:  nonce 16 | own rank 4 | rank that is meant 4 | length of the name 1 | name
//!   who accepts:   nonce 16 | proof 32
//!   who connects:  proof 32, and at once what it has to say
//! ```
//!
//! Numbers are little-endian. A proof is BLAKE3 (O'Connor et al., 2020), keyed by what is derived from the secret, of the purpose, of who proves, and of all that was said before.
//! Both nonces are in it, so what was overheard is of no use again; the side is, so a proof that is sent back proves nothing; the purpose and the ranks are, so it serves nowhere
//! else. Who connects sees the other's proof before it says anything of its own. What follows is as TCP carries it, neither sealed nor encrypted.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::Rank;
use super::launch_info::Secret;

const NONCE: usize = 16;
const PROOF: usize = blake3::OUT_LEN;
/// Bytes that who accepts says.
pub const CHALLENGE: usize = NONCE + PROOF;
/// An opening without its name.
const FIXED: usize = NONCE + 4 + 4 + 1;
/// The longest name that is sent, in characters, which are up to four bytes each.
const NAME_MAX: usize = 60;
/// What is meant by who connects where no process is: at a bootstrap or a starter.
pub const NO_RANK: Rank = Rank::MAX;
/// Who has been hung up on before anything was proven, because strangers throng, tries again so often, after pauses that grow.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(5);
/// Who asked the link for a host's card and got no answer asks so often in all: on a network that loses packets the questions, or the answers, may have been lost. The system
/// asks three times itself, in as many seconds.
const UNREACHED_TRIES: u32 = 3;

/// What a connection is for. Proofs for one purpose do not serve for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Frames between two processes.
    Frames = 1,
    /// A question to the bootstrap.
    Bootstrap = 2,
    /// An order to the starter.
    Starter = 3,
}

/// Who proves.
#[derive(Debug, Clone, Copy)]
enum Side {
    Connects = 1,
    Accepts = 2,
}

/// What both ends must agree on.
#[derive(Debug, Clone, Copy)]
struct Shared {
    secret: Secret,
    purpose: Purpose,
}

impl Shared {
    /// The time that comparing two of these takes does not depend on where they differ.
    fn proof(self, side: Side, opening: &[u8], nonce: &[u8]) -> blake3::Hash {
        let key = blake3::derive_key("antiphon panda: begin of a connection", &self.secret.0);
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher.update(&[self.purpose as u8, side as u8]);
        // The opening says its own length, so nothing can be moved from one part to the other.
        hasher.update(opening).update(nonce);
        hasher.finalize()
    }
}

/// The end that connects.
#[derive(Debug)]
pub struct Connecting {
    shared: Shared,
    opening: Vec<u8>,
}

impl Connecting {
    /// `name` is for messages to people, and cut to 60 characters.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new(
        secret: Secret,
        purpose: Purpose,
        (own, meant): (Rank, Rank),
        name: &str,
    ) -> io::Result<Self> {
        let name: String = name.chars().take(NAME_MAX).collect();
        let mut opening = nonce()?.to_vec();
        opening.extend(own.to_le_bytes());
        opening.extend(meant.to_le_bytes());
        opening.push(name.len() as u8);
        opening.extend(name.as_bytes());
        let shared = Shared { secret, purpose };
        Ok(Self { shared, opening })
    }

    /// What is said first.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The proof to a challenge; nothing if the challenge does not prove that the other end knows the secret.
    pub fn answer(&self, challenge: &[u8; CHALLENGE]) -> Option<[u8; PROOF]> {
        let (nonce, theirs) = challenge.split_at(NONCE);
        let theirs = blake3::Hash::from_slice(theirs).ok()?;
        let right = self.shared.proof(Side::Accepts, &self.opening, nonce);
        let own = || self.shared.proof(Side::Connects, &self.opening, nonce);
        (theirs == right).then(|| *own().as_bytes())
    }

    /// Reads the challenge and says the proof.
    ///
    /// # Errors
    /// The other end hangs up, is silent too long, or does not know the secret.
    fn finish(&self, stream: &TcpStream, until: Instant) -> io::Result<()> {
        let mut challenge = [0; CHALLENGE];
        hear(stream, &mut challenge, until)?;
        self.prove(&challenge, stream)
    }

    /// Says the proof to a challenge.
    ///
    /// # Errors
    /// The other end hangs up, or does not know the secret.
    pub fn prove(&self, challenge: &[u8; CHALLENGE], mut stream: &TcpStream) -> io::Result<()> {
        let proof = self.answer(challenge).ok_or_else(|| {
            let why = "who listens there does not know this session's secret";
            io::Error::new(io::ErrorKind::PermissionDenied, why)
        })?;
        stream.write_all(&proof)
    }
}

/// Waits for what the other end has to say.
///
/// # Errors
/// It hangs up, or is silent too long.
fn hear(mut stream: &TcpStream, said: &mut [u8], until: Instant) -> io::Result<()> {
    let mut have = 0;
    while have < said.len() {
        // What has come already is read even when the time is over.
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

/// The other end closed the connection before it was to.
pub fn hung_up() -> io::Error {
    let why = "who listens there hung up: it has ended, or is not of this session";
    io::Error::new(io::ErrorKind::UnexpectedEof, why)
}

/// Connects to who must know the secret, and proves to know it.
///
/// # Errors
/// Nobody listens there, or who does hangs up, is silent for longer than `patience`, or does not know the secret.
pub fn connect(
    address: impl ToSocketAddrs,
    secret: Secret,
    purpose: Purpose,
    own: Rank,
    patience: Duration,
) -> io::Result<TcpStream> {
    let mut tries = 1;
    loop {
        let connecting = Connecting::new(secret, purpose, (own, NO_RANK), "")?;
        let attempt = connect_within(&address, patience).and_then(|mut stream| {
            // The proof and what follows it are two small writes. The system would hold the second
            // one back until the first is acknowledged, which takes the other end up to 40 ms.
            stream.set_nodelay(true)?;
            stream.write_all(connecting.opening())?;
            connecting.finish(&stream, Instant::now() + patience)?;
            Ok(stream)
        });
        match attempt {
            Err(error) if may_try_again(&error, tries) => tries += 1,
            ended => return ended,
        }
    }
}

/// Connects to the first of its addresses that can be; the system would wait for minutes where nobody answers.
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

/// Whether another try may do better; pauses before it.
fn may_try_again(error: &io::Error, tries: u32) -> bool {
    let pause = pause_before_again(error, tries);
    pause.into_iter().for_each(std::thread::sleep);
    pause.is_some()
}

/// The pause before another try, if one may do better.
pub fn pause_before_again(error: &io::Error, tries: u32) -> Option<Duration> {
    let most = match error.kind() {
        io::ErrorKind::HostUnreachable => UNREACHED_TRIES,
        _ if is_hung_up(error) => TRIES,
        _ => 1,
    };
    (tries < most).then(|| PAUSE * tries)
}

/// Whether the other end closed the connection.
pub fn is_hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    [BrokenPipe, ConnectionReset, UnexpectedEof].contains(&error.kind())
}

/// The end that accepts. What it keeps is bounded, whoever talks.
#[derive(Debug)]
pub struct Accepting {
    shared: Shared,
    own: Rank,
    bytes: Vec<u8>,
    /// What was challenged with, once the opening is there.
    nonce: Option<[u8; NONCE]>,
}

/// How far the end that accepts is.
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

    /// Reads once, no more than the beginning: what follows is left in the stream.
    ///
    /// # Errors
    /// A stranger, somebody who ended, or the stream's own, among them that nothing is there.
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
                // A new connection has room for these few bytes, or is none of ours.
                stream.write_all(&self.challenge()?)?;
                Ok(Progress::More)
            }
            Some(nonce) => self.known(&nonce).ok_or_else(stranger),
        }
    }

    /// Bytes that must come before anything can be decided; at least one is lacking until then.
    fn lacks(&self) -> usize {
        let length = match self.bytes.get(FIXED - 1) {
            None => FIXED,
            Some(name) => FIXED + usize::from(*name),
        };
        let proof = if self.nonce.is_some() { PROOF } else { 0 };
        length + proof - self.bytes.len()
    }

    /// The opening is there.
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
