//! Datagrams as they are sent.
//!
//! ```text
//!   kind 1 | sender's rank 4 | content's length 2 | seal 8 | content
//! ```
//!
//! By its length each is found among those that the system hands over as one (see [`segments`](super::segments)).
//!
//! The seal is a keyed hash of kind, sender, receiver and content under the session's secret, in little-endian order: SipHash-2-4 (Aumasson and Bernstein, 2012) of short ones,
//! HighwayHash-64 (Alakuijala, Cox and Wassenberg, 2016) of long ones, of which it takes in four times as many bytes in a time. It keeps out who
//! does not know the secret; datagrams that were overheard and are sent again are dropped as doubles by the interface layer, or are harmless. What goes to the multicast group is sealed for [`EVERYBODY`], so neither passes for the other.

use std::hash::Hasher;
use std::net::SocketAddr;

use highway::{HighwayHash, HighwayHasher, Key};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

use crate::platform::{Rank, Secret};

/// Where the header's parts begin.
const LENGTH: usize = 5;
const SEAL: usize = 7;
/// Bytes before the content.
pub const HEADER: usize = SEAL + 8;
/// The longest datagram that carries a frame between hosts: what an Ethernet packet holds besides the headers of IPv6 and UDP. One in several packets is lost when one of them is.
pub const PACKET: usize = 1500 - 40 - 8;
/// The same where all processes are on one host, whose own network takes as much as UDP does. A loss costs more, the longer what is sent again is.
pub const ON_HOST: usize = 16 << 10;
/// Content of more bytes is sealed with the hash for long ones, which takes longer to begin and to end.
const SHORT: usize = 256;
/// The longest datagram that carries a note.
pub const NOTE_MAX: usize = 2048;
/// The bootstrap's place among the ranks, which has no rank.
pub const BOOTSTRAP: Rank = Rank::MAX;
/// Whoever gets it: the receiver of what goes to the multicast group.
pub const EVERYBODY: Rank = Rank::MAX - 1;

const FRAME: u8 = 1;
const NOTE: u8 = 2;

/// What a datagram carries.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A frame of the interface layer.
    Frame(&'a [u8]),
    /// A note between the processes of a session, or between them and their bootstrap.
    Note(Note),
}

/// Notes. Each may be lost and doubled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// To the bootstrap: I am here. What is known of the ranks from `next` on?
    Here {
        /// Greater than that of any earlier process of this rank.
        birth: u64,
        /// My name.
        name: String,
        /// The first rank that I want to know of.
        next: Rank,
    },
    /// The bootstrap's answer: ranks from that one on, as many as a datagram holds.
    Known {
        /// The rank that was asked for.
        next: Rank,
        /// How many ranks have been given.
        given: u32,
        /// What became of them, from `next` on.
        places: Vec<Found>,
    },
    /// To the bootstrap: give me that many ranks.
    Allot {
        /// The same if it is asked again.
        question: u64,
        /// How many.
        count: u32,
    },
    /// The bootstrap's answer: the first of them; nothing if there are no more.
    Allotted {
        /// Which question.
        question: u64,
        /// The first rank.
        first: Option<Rank>,
    },
    /// To a peer: I have come, later than you.
    Knock {
        /// As in [`Note::Here`].
        birth: u64,
        /// My name.
        name: String,
    },
    /// A peer's answer: it knows.
    Welcome,
    /// To the bootstrap: a process that was there when I came has answered me, after all, or has not.
    Met {
        /// Its rank.
        rank: Rank,
        /// As in [`Note::Here`], its.
        birth: u64,
        /// Whether it has.
        has_answered: bool,
    },
    /// To the bootstrap: a process has ended that the sender had started.
    Ended {
        /// Its rank.
        rank: Rank,
        /// As in [`Note::Here`], its.
        birth: u64,
    },
    /// I leave the session.
    Leaving {
        /// As in [`Note::Here`].
        birth: u64,
    },
    /// To the multicast group: who hears this?
    Probe {
        /// As in [`Note::Here`].
        birth: u64,
    },
    /// The answer to a probe of that birth.
    Hears {
        /// The prober's.
        birth: u64,
    },
}

/// What a bootstrap knows of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// Nobody has come.
    Nobody,
    /// It is there.
    There(Place),
    /// It has come, and did not answer one that came later.
    Doubted(Place),
    /// It has come and left: nobody waits for it.
    Left {
        /// Its birth.
        birth: u64,
    },
}

/// Where a process is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where it is sent to.
    pub address: SocketAddr,
    /// Greater than that of any earlier process of this rank.
    pub birth: u64,
    /// Its name, for messages to people.
    pub name: String,
}

/// The longest name that is sent, in bytes.
pub const NAME: usize = 64;

/// A note's datagram.
pub fn note(secret: Secret, from: Rank, to: Rank, note: &Note) -> Vec<u8> {
    let content = postcard::to_stdvec(note).expect("notes are plain data, which postcard takes");
    let mut datagram = Vec::with_capacity(HEADER + content.len());
    seal(secret, NOTE, from, to, [content.as_slice()], &mut datagram);
    datagram
}

/// A frame's datagram, behind what is in `datagrams`.
pub fn frame<'a>(
    secret: Secret,
    from: Rank,
    to: Rank,
    slices: impl IntoIterator<Item = &'a [u8]>,
    datagrams: &mut Vec<u8>,
) {
    seal(secret, FRAME, from, to, slices, datagrams);
}

/// The datagrams in what the system handed over, which are several if it joined them. What is no datagram of ours ends them: the rest is passed as one, and
/// [does not open](open).
///
/// Lengths are believed before seals are seen. So who sends in a peer's name, from its address and port, may have some datagrams dropped that come right behind his own; they
/// are sent again. None of ours that carries a frame is longer than [`ON_HOST`], so neither is one here.
pub fn apart(received: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = received;
    std::iter::from_fn(move || {
        let length = rest
            .get(LENGTH..SEAL)
            .map(|length| HEADER + usize::from(u16::from_le_bytes([length[0], length[1]])))
            .map(|length| length.min(ON_HOST));
        let (first, behind) = rest.split_at(length.unwrap_or(rest.len()).min(rest.len()));
        rest = behind;
        (!first.is_empty()).then_some(first)
    })
}

/// Opens a datagram; nothing if it is not of this session or not for `to`.
pub fn open(secret: Secret, to: Rank, datagram: &[u8]) -> Option<(Rank, Content<'_>)> {
    let (header, content) = datagram.split_at_checked(HEADER)?;
    let kind = header[0];
    let from = Rank::from_le_bytes(header[1..LENGTH].try_into().ok()?);
    let length = u16::from_le_bytes(header[LENGTH..SEAL].try_into().ok()?);
    let theirs = u64::from_le_bytes(header[SEAL..].try_into().ok()?);
    if usize::from(length) != content.len() || theirs != tag(secret, kind, from, to, content) {
        return None;
    }
    let content = match kind {
        FRAME => Content::Frame(content),
        NOTE => Content::Note(postcard::from_bytes(content).ok()?),
        _ => return None,
    };
    Some((from, content))
}

fn seal<'a>(
    secret: Secret,
    kind: u8,
    from: Rank,
    to: Rank,
    slices: impl IntoIterator<Item = &'a [u8]>,
    datagrams: &mut Vec<u8>,
) {
    let begin = datagrams.len();
    datagrams.push(kind);
    datagrams.extend_from_slice(&from.to_le_bytes());
    datagrams.extend_from_slice(&[0; HEADER - LENGTH]);
    slices
        .into_iter()
        .for_each(|slice| datagrams.extend_from_slice(slice));
    let (header, content) = datagrams[begin..].split_at_mut(HEADER);
    debug_assert!(
        content.len() <= ON_HOST - HEADER,
        "a frame is longer than LARGEST"
    );
    let tag = tag(secret, kind, from, to, content);
    header[LENGTH..SEAL].copy_from_slice(&(content.len() as u16).to_le_bytes());
    header[SEAL..].copy_from_slice(&tag.to_le_bytes());
}

fn tag(secret: Secret, kind: u8, from: Rank, to: Rank, content: &[u8]) -> u64 {
    let mut head = [0; 16];
    head[0] = kind;
    head[4..8].copy_from_slice(&from.to_le_bytes());
    head[8..12].copy_from_slice(&to.to_le_bytes());
    if content.len() > SHORT {
        return tag_of_long(secret, &head, content);
    }
    let mut hasher = SipHasher24::new_with_key(&secret.0);
    hasher.write(&head);
    hasher.write(content);
    hasher.finish()
}

fn tag_of_long(secret: Secret, head: &[u8], content: &[u8]) -> u64 {
    let [low, high] = [0, 8].map(|at| {
        let half = secret.0[at..at + 8].try_into();
        u64::from_le_bytes(half.expect("eight bytes"))
    });
    // Its key is twice as long as the secret.
    let mut hasher = HighwayHasher::new(Key([low, high, !low, !high]));
    hasher.append(head);
    hasher.append(content);
    hasher.finalize64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: Secret = Secret([3; 16]);

    proptest! {
        #[test]
        fn what_was_sealed_is_opened_by_its_receiver_only(bytes in proptest::collection::vec(any::<u8>(), 0..1500), flip in any::<prop::sample::Index>()) {
            let mut datagram = Vec::new();
            frame(SECRET, 4, 9, [&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]], &mut datagram);
            prop_assert_eq!(open(SECRET, 9, &datagram), Some((4, Content::Frame(&bytes))));
            prop_assert_eq!(open(SECRET, 8, &datagram), None);
            prop_assert_eq!(open(Secret([4; 16]), 9, &datagram), None);
            let at = flip.index(datagram.len());
            datagram[at] ^= 0x10;
            prop_assert_eq!(open(SECRET, 9, &datagram), None);
        }

        #[test]
        fn what_was_joined_comes_apart(lengths in proptest::collection::vec(0..1400_usize, 0..20), tail in proptest::collection::vec(any::<u8>(), 0..HEADER)) {
            let mut joined = Vec::new();
            for (number, length) in lengths.iter().enumerate() {
                frame(SECRET, 4, 9, [vec![number as u8; *length].as_slice()], &mut joined);
            }
            let is_cut = !tail.is_empty();
            joined.extend(tail);
            let apart: Vec<_> = apart(&joined).map(|datagram| open(SECRET, 9, datagram)).collect();
            prop_assert_eq!(apart.len(), lengths.len() + usize::from(is_cut));
            for (number, length) in lengths.iter().enumerate() {
                prop_assert_eq!(&apart[number], &Some((4, Content::Frame(&vec![number as u8; *length]))));
            }
            prop_assert!(apart[lengths.len()..].iter().all(Option::is_none));
        }

        #[test]
        fn nonsense_comes_apart_without_loss_or_end(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
            prop_assert_eq!(apart(&bytes).flatten().copied().collect::<Vec<u8>>(), bytes);
        }

        #[test]
        fn sealed_nonsense_is_no_note(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut datagram = Vec::new();
            seal(SECRET, NOTE, 0, 1, [bytes.as_slice()], &mut datagram);
            let _ = open(SECRET, 1, &datagram);
        }
    }
}
