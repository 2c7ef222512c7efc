//! Datagrams as they are sent.
//!
//! ```text
//!   kind 1 | sender's rank 4 | content's length 2 | seal 8 | content
//! ```
//!
//! By its length each is found among those that the system hands over as one (see
//! [`segments`](super::segments)).
//!
//! The seal is a keyed hash of kind, sender, receiver and content, in little-endian order:
//! SipHash-2-4 (Aumasson and Bernstein, 2012) of short ones, HighwayHash-64 (Alakuijala, Cox and
//! Wassenberg, 2016) of long ones, of which it takes in four times as many bytes in a time. Each
//! kind of datagram and each hash has a key of its own, derived from the session's secret. The seal
//! of a note is also of the address and port that it is sent from, where its receiver may learn
//! that its sender is: a note that was overheard is not taken from anywhere else. Frames go from
//! several ports, and nobody learns an address from them.
//!
//! The seal keeps out strangers, who do not know the secret. Datagrams that were overheard and are
//! sent again are dropped as doubles by the interface layer, or are harmless. What goes to the
//! multicast group is sealed for [`EVERYBODY`], so neither passes for the other.

use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use highway::{HighwayHash, HighwayHasher, Key};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

use crate::platform::bootstrap::RANKS;
use crate::platform::{Rank, Secret};

/// Offsets of the header's parts.
const LENGTH: usize = 5;
const SEAL: usize = 7;
/// Bytes before the content.
pub const HEADER: usize = SEAL + 8;
/// Longest datagram that carries a frame between hosts: an Ethernet packet without the headers of
/// IPv6 and UDP. A datagram in several packets is lost when one of them is.
pub const PACKET: usize = 1500 - 40 - 8;
/// Longest such datagram if all processes are on one host, whose own network takes as much as UDP
/// does. It is bounded, since a longer datagram costs more to send again.
pub const ON_HOST: usize = 16 << 10;
/// Length of content above which the hash for long content seals, which takes longer to begin and
/// to end.
const SHORT: usize = 256;
/// The longest datagram that carries a note.
pub const NOTE_MAX: usize = 2048;
/// Stand-in rank of the bootstrap, which has no rank.
pub const BOOTSTRAP: Rank = Rank::MAX;
/// Stand-in rank of all processes: the receiver of datagrams to the multicast group.
pub const EVERYBODY: Rank = Rank::MAX - 1;

const FRAME: u8 = 1;
const NOTE: u8 = 2;

/// The content of a datagram.
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
    /// To the bootstrap: the sender is here, and asks for the ranks from `next` on.
    Here {
        /// Greater than that of any earlier process of this rank.
        birth: u64,
        /// The sender's name.
        name: String,
        /// First rank that it asks for.
        next: Rank,
    },
    /// The bootstrap's answer: ranks from that one on, as many as a datagram holds.
    Known {
        /// The rank that was asked for.
        next: Rank,
        /// Number of ranks that have been given.
        given: u32,
        /// Their states, from `next` on.
        places: Vec<Found>,
    },
    /// To the bootstrap: the sender asks for that many ranks.
    Allot {
        /// Number of the question; the same if it is asked again.
        question: u64,
        /// Number of ranks.
        count: u32,
    },
    /// The bootstrap's answer: the first of the ranks; `None` if there are no more.
    Allotted {
        /// Number of the question.
        question: u64,
        /// The first rank.
        first: Option<Rank>,
    },
    /// To a peer: the sender has come, later than the peer.
    Knock {
        /// As in [`Note::Here`].
        birth: u64,
        /// The sender's name.
        name: String,
    },
    /// A peer's answer: it knows the sender.
    Welcome,
    /// To the bootstrap: an earlier process has, or has not, answered the sender.
    Met {
        /// Its rank.
        rank: Rank,
        /// As in [`Note::Here`], its.
        birth: u64,
        /// Whether it has answered.
        has_answered: bool,
    },
    /// To the bootstrap: a process has ended that the sender had started.
    Ended {
        /// Its rank.
        rank: Rank,
        /// As in [`Note::Here`], its.
        birth: u64,
    },
    /// The sender leaves the session.
    Leaving {
        /// As in [`Note::Here`].
        birth: u64,
    },
    /// To the multicast group: every process that hears this answers.
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

/// The bootstrap's knowledge of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// No process has come.
    Nobody,
    /// It is there.
    There(Place),
    /// It has come, and did not answer a newcomer.
    Doubted(Place),
    /// It has come and left: no process waits for it.
    Left {
        /// Its birth.
        birth: u64,
    },
    /// It ended before it came: no process waits for it.
    NeverCame,
}

/// A process's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Address to which datagrams for it go.
    pub address: SocketAddr,
    /// Greater than that of any earlier process of this rank.
    pub birth: u64,
    /// Its name, for messages to people.
    pub name: String,
}

/// The longest name that is sent, in bytes.
pub const NAME: usize = 64;

impl Place {
    /// Returns whether a process of this rank can have it. A process that knows the secret may be
    /// mistaken, or lie.
    pub fn is_of(&self, rank: Rank) -> bool {
        rank < RANKS && self.name.len() <= NAME
    }
}

/// The keys of a session's datagrams.
#[derive(Clone)]
pub struct Keys {
    frames: Pair,
    notes: Pair,
}

/// The keys of one kind of datagram.
#[derive(Clone)]
struct Pair {
    short: [u8; 16],
    long: [u64; 4],
}

impl Keys {
    pub fn of(secret: Secret) -> Self {
        let short = |purpose| {
            let key = secret.derive(purpose);
            *key.first_chunk().expect("it is twice as long")
        };
        let long = |purpose| {
            let key = secret.derive(purpose);
            let (words, _) = key.as_chunks();
            std::array::from_fn(|at| u64::from_le_bytes(words[at]))
        };
        Self {
            frames: Pair {
                short: short("antiphon panda: short frames over udp"),
                long: long("antiphon panda: long frames over udp"),
            },
            notes: Pair {
                short: short("antiphon panda: short notes over udp"),
                long: long("antiphon panda: long notes over udp"),
            },
        }
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(..)")
    }
}

/// Makes a note's datagram, from a process and the address that it sends from.
pub fn note(keys: &Keys, (from, at): (Rank, SocketAddr), to: Rank, note: &Note) -> Vec<u8> {
    let content = postcard::to_stdvec(note).expect("notes are plain data, which postcard takes");
    let mut datagram = Vec::with_capacity(HEADER + content.len());
    let head = Head {
        kind: NOTE,
        from,
        to,
        at,
    };
    seal(keys, head, [content.as_slice()], &mut datagram);
    datagram
}

/// Appends a frame's datagram to `datagrams`.
pub fn frame<'a>(
    keys: &Keys,
    from: Rank,
    to: Rank,
    slices: impl IntoIterator<Item = &'a [u8]>,
    datagrams: &mut Vec<u8>,
) {
    let head = Head {
        kind: FRAME,
        from,
        to,
        at: NOWHERE,
    };
    seal(keys, head, slices, datagrams);
}

/// Splits what the system handed over into datagrams, which are several if it joined them.
///
/// A part that is no datagram of ours ends them. The rest is returned as one, and [does not
/// open](open).
///
/// Lengths are believed before seals are checked. So an attacker that sends in a peer's name, from
/// its address and port, may have datagrams dropped that come right behind his own. They are sent
/// again. No datagram of ours with a frame is longer than [`ON_HOST`], so none is here.
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

/// Opens a datagram that came from an address. Returns `None` if it is not of this session, not for
/// `to`, or a note that was not sent from there.
pub fn open<'a>(
    keys: &Keys,
    to: Rank,
    (datagram, at): (&'a [u8], SocketAddr),
) -> Option<(Rank, Content<'a>)> {
    let (header, content) = datagram.split_at_checked(HEADER)?;
    let kind = header[0];
    let from = Rank::from_le_bytes(header[1..LENGTH].try_into().ok()?);
    let length = u16::from_le_bytes(header[LENGTH..SEAL].try_into().ok()?);
    let theirs = u64::from_le_bytes(header[SEAL..].try_into().ok()?);
    let head = Head { kind, from, to, at };
    if usize::from(length) != content.len() || theirs != head.tag(keys, content)? {
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
    keys: &Keys,
    head: Head,
    slices: impl IntoIterator<Item = &'a [u8]>,
    datagrams: &mut Vec<u8>,
) {
    let begin = datagrams.len();
    datagrams.push(head.kind);
    datagrams.extend_from_slice(&head.from.to_le_bytes());
    datagrams.extend_from_slice(&[0; HEADER - LENGTH]);
    slices
        .into_iter()
        .for_each(|slice| datagrams.extend_from_slice(slice));
    let (header, content) = datagrams[begin..].split_at_mut(HEADER);
    debug_assert!(
        content.len() <= ON_HOST - HEADER,
        "a frame is longer than LARGEST"
    );
    let tag = head.tag(keys, content).expect("it is of a known kind");
    header[LENGTH..SEAL].copy_from_slice(&(content.len() as u16).to_le_bytes());
    header[SEAL..].copy_from_slice(&tag.to_le_bytes());
}

/// The sealed fields besides the content.
#[derive(Clone, Copy)]
struct Head {
    kind: u8,
    from: Rank,
    to: Rank,
    /// Address from which a note is sent.
    at: SocketAddr,
}

/// The address of frames, which go from several ports.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);

impl Head {
    /// Returns the seal; `None` if there is no such kind.
    fn tag(&self, keys: &Keys, content: &[u8]) -> Option<u64> {
        let mut head = [0; HEAD_NOTE];
        head[0] = self.kind;
        head[4..8].copy_from_slice(&self.from.to_le_bytes());
        head[8..12].copy_from_slice(&self.to.to_le_bytes());
        match self.kind {
            FRAME => Some(keys.frames.tag(&head[..HEAD_FRAME], content)),
            NOTE => {
                let ip = match self.at.ip() {
                    IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                    IpAddr::V6(v6) => v6,
                };
                head[12..14].copy_from_slice(&self.at.port().to_le_bytes());
                head[HEAD_FRAME..].copy_from_slice(&ip.octets());
                Some(keys.notes.tag(&head, content))
            }
            _ => None,
        }
    }
}

/// Sealed bytes before the content of a frame, and of a note.
const HEAD_FRAME: usize = 16;
const HEAD_NOTE: usize = HEAD_FRAME + 16;

impl Pair {
    fn tag(&self, head: &[u8], content: &[u8]) -> u64 {
        if content.len() > SHORT {
            let mut hasher = HighwayHasher::new(Key(self.long));
            hasher.append(head);
            hasher.append(content);
            return hasher.finalize64();
        }
        let mut hasher = SipHasher24::new_with_key(&self.short);
        hasher.write(head);
        hasher.write(content);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HERE: SocketAddr = NOWHERE;

    fn keys() -> Keys {
        Keys::of(Secret([3; 16]))
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_opened_by_its_receiver_only(bytes in proptest::collection::vec(any::<u8>(), 0..1500), flip in any::<prop::sample::Index>()) {
            let mut datagram = Vec::new();
            frame(&keys(), 4, 9, [&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]], &mut datagram);
            prop_assert_eq!(open(&keys(), 9, (&datagram, HERE)), Some((4, Content::Frame(&bytes))));
            prop_assert_eq!(open(&keys(), 8, (&datagram, HERE)), None);
            prop_assert_eq!(open(&Keys::of(Secret([4; 16])), 9, (&datagram, HERE)), None);
            let at = flip.index(datagram.len());
            datagram[at] ^= 0x10;
            prop_assert_eq!(open(&keys(), 9, (&datagram, HERE)), None);
        }

        #[test]
        fn what_was_joined_comes_apart(lengths in proptest::collection::vec(0..1400_usize, 0..20), tail in proptest::collection::vec(any::<u8>(), 0..HEADER)) {
            let mut joined = Vec::new();
            for (number, length) in lengths.iter().enumerate() {
                frame(&keys(), 4, 9, [vec![number as u8; *length].as_slice()], &mut joined);
            }
            let is_cut = !tail.is_empty();
            joined.extend(tail);
            let apart: Vec<_> = apart(&joined).map(|datagram| open(&keys(), 9, (datagram, HERE))).collect();
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
            let head = Head { kind: NOTE, from: 0, to: 1, at: HERE };
            seal(&keys(), head, [bytes.as_slice()], &mut datagram);
            let _ = open(&keys(), 1, (&datagram, HERE));
        }

        #[test]
        fn a_note_is_taken_from_where_it_was_sent_and_from_nowhere_else(name in "[a-z]{0,300}") {
            let at: SocketAddr = "10.0.0.7:4000".parse().unwrap();
            let knock = Note::Knock { birth: 1, name };
            let datagram = note(&keys(), (4, at), 9, &knock);
            prop_assert_eq!(open(&keys(), 9, (&datagram, at)), Some((4, Content::Note(knock))));
            for other in ["10.0.0.7:4001", "10.0.0.8:4000", "[fd00::7]:4000"] {
                prop_assert_eq!(open(&keys(), 9, (&datagram, other.parse().unwrap())), None);
            }
        }
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own() {
        let Keys { frames, notes } = keys();
        let long = |pair: &Pair| pair.long.map(u64::to_le_bytes).concat();
        let all = [
            frames.short.to_vec(),
            notes.short.to_vec(),
            long(&frames)[..16].to_vec(),
            long(&frames)[16..].to_vec(),
            long(&notes)[..16].to_vec(),
            long(&notes)[16..].to_vec(),
            vec![3; 16],
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        // Two kinds of datagram with the same bytes have different seals.
        let seal = |kind| {
            let (from, to, at) = (0, 1, HERE);
            Head { kind, from, to, at }.tag(&keys(), b"the same")
        };
        assert_ne!(seal(FRAME), seal(NOTE));
    }
}
