use std::collections::VecDeque;

use super::*;

const SECRET: Secret = Secret([7; 16]);
const FRAMES: Purpose = Purpose::Frames;

/// The bytes that the accepting end reads, and those it has sent.
#[derive(Default)]
struct Wire {
    comes: VecDeque<u8>,
    said: Vec<u8>,
}

impl Read for Wire {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self.comes.is_empty() {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => self.comes.read(space),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.said.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An accepting end and its connection.
struct Door {
    accepting: Accepting,
    wire: Wire,
}

impl Door {
    fn new(secret: Secret, purpose: Purpose, own: Rank) -> Self {
        Self {
            accepting: Accepting::new(secret, purpose, own),
            wire: Wire::default(),
        }
    }

    /// Sends bytes, and returns the progress that they make.
    fn say(&mut self, bytes: &[u8]) -> io::Result<Progress> {
        self.wire.comes.extend(bytes);
        loop {
            match self.accepting.read(&mut self.wire) {
                Ok(Progress::More) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Progress::More);
                }
                ended => return ended,
            }
        }
    }

    fn challenge(&self) -> [u8; NONCE + PROOF] {
        *self.wire.said.first_chunk().expect("a challenge")
    }

    /// Checks that it hangs up on these bytes, and sends nothing more.
    fn refuses(&mut self, bytes: &[u8]) {
        let error = self.say(bytes).expect_err("a stranger");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}

fn connecting(own: Rank, meant: Rank) -> Connecting {
    Connecting::new(SECRET, FRAMES, (own, meant), "node:3").unwrap()
}

#[test]
fn both_ends_know_each_other_and_the_secret_is_not_said() {
    let (one, mut other) = (connecting(3, 1), Door::new(SECRET, FRAMES, 1));
    // Byte by byte, as a network may bring it.
    for byte in one.opening() {
        assert_eq!(other.say(&[*byte]).unwrap(), Progress::More);
    }
    let proof = one.answer(&other.challenge()).expect("it knows the secret");
    let said = [one.opening(), &other.wire.said, &proof].concat();
    for part in SECRET.0.windows(4) {
        assert!(!said.windows(4).any(|four| four == part), "part of it");
    }
    // Later bytes are left in the stream.
    let known = other.say(&[&proof[..], b"frames"].concat()).unwrap();
    assert_eq!(known, Progress::Known(3, "node:3".into()));
    assert_eq!(other.wire.comes, b"frames");
}

#[test]
fn a_recorded_conversation_opens_no_door() {
    let (one, mut other) = (connecting(3, 1), Door::new(SECRET, FRAMES, 1));
    other.say(one.opening()).unwrap();
    let proof = one.answer(&other.challenge()).unwrap();
    let mut again = Door::new(SECRET, FRAMES, 1);
    again.say(one.opening()).unwrap();
    assert_ne!(again.challenge(), other.challenge());
    again.refuses(&proof);
    // Nor does a recording convince an end that connects later.
    assert_eq!(connecting(3, 1).answer(&other.challenge()), None);
}

#[test]
fn a_proof_that_is_sent_back_proves_nothing() {
    let (one, mut other) = (connecting(3, 1), Door::new(SECRET, FRAMES, 1));
    other.say(one.opening()).unwrap();
    let challenge = other.challenge();
    other.refuses(&challenge[NONCE..]);
    // A stranger in between lets another process, or the connecting one itself, make the proof.
    Door::new(SECRET, FRAMES, 2).refuses(one.opening());
    Door::new(SECRET, FRAMES, 3).refuses(one.opening());
}

#[test]
fn a_proof_serves_for_one_purpose_between_two_ranks() {
    let one = connecting(3, 1);
    let mut bootstrap = Door::new(SECRET, Purpose::Bootstrap, 1);
    bootstrap.say(one.opening()).unwrap();
    assert_eq!(one.answer(&bootstrap.challenge()), None);
    // Rank 3 cannot be made rank 4 on the way.
    let mut other = Door::new(SECRET, FRAMES, 1);
    let mut changed = one.opening().to_vec();
    changed[NONCE] = 4;
    other.say(&changed).unwrap();
    assert_eq!(one.answer(&other.challenge()), None);
}

#[test]
fn who_does_not_know_the_secret_convinces_nobody() {
    let stranger = Secret([8; 16]);
    let mut impostor = Door::new(stranger, FRAMES, 1);
    let one = connecting(3, 1);
    impostor.say(one.opening()).unwrap();
    assert_eq!(
        one.answer(&impostor.challenge()),
        None,
        "so it says no more"
    );

    let liar = Connecting::new(stranger, FRAMES, (3, 1), "liar").unwrap();
    let mut other = Door::new(SECRET, FRAMES, 1);
    other.say(liar.opening()).unwrap();
    assert_eq!(liar.answer(&other.challenge()), None);
    let shared = Shared {
        secret: stranger,
        purpose: FRAMES,
    };
    let nonce = &other.challenge()[..NONCE];
    let guess = shared.proof(Side::Connects, liar.opening(), nonce);
    other.refuses(guess.as_bytes());
}

#[test]
fn what_a_stranger_says_is_kept_no_longer_than_an_opening() {
    let mut door = Door::new(SECRET, FRAMES, 1);
    let mut opening = vec![0; FIXED];
    opening[NONCE + 4] = 1;
    opening[FIXED - 1] = u8::MAX;
    door.say(&opening).unwrap();
    assert!(door.wire.said.is_empty(), "its name has not come");
    door.refuses(&[b'x'; 4096]);
    assert!(door.accepting.bytes.len() <= FIXED + 255 + PROOF);
}

#[test]
fn what_may_have_been_lost_is_tried_again_and_ends() {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, PermissionDenied};
    let tries = |kind: io::ErrorKind, until: Instant| {
        let pause = |tries: &u32| pause_before_again(&kind.into(), *tries, until).is_some();
        (1..100).take_while(pause).count()
    };
    let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(3600));
    assert_eq!(tries(ConnectionRefused, later), 0);
    assert_eq!(tries(PermissionDenied, later), 0);
    assert_eq!(
        tries(ConnectionReset, later),
        99,
        "as long as there is time"
    );
    assert_eq!(tries(ConnectionReset, now), 0);
    for until in [now, later] {
        assert_eq!(tries(HostUnreachable, until), UNREACHED_TRIES as usize - 1);
    }
}
