//! What stands before a frame in a connection: its length, and a gap before long ones.
//!
//! The kernel copies by one instruction, `rep movsb`, which on AMD's Zen 3 and Zen 4 takes 290 ns a KiB in place of 20 where the destination lies one to fifteen bytes behind the source, both
//! counted from the start of their page (as glibc's bug 30994 tells of it). Its own memory mostly begins with the frame at the start of a page, and so does memory of long payloads,
//! but for 16 bytes: with some bytes of headers before it, a payload would be copied in and out in just that way. So a gap has it lie in the connection as in memory, as far as
//! multiples of [`LINE`] go, and the receiver has head and gap lie before it, too. Whoever's bytes begin elsewhere loses nothing by it.

use crate::message::Message;

/// Bytes of the head.
pub const HEAD: usize = size_of::<u64>();
/// What a process that leaves sends in place of a head. No frame begins so, and nothing follows.
pub const FAREWELL: [u8; HEAD] = *b"farewell";
/// Where payloads lie is counted in these.
const LINE: usize = 16;
/// Frames from this length on have a gap: others are copied in no time.
pub const LONG: usize = 16 << 10;
/// The longest frame that is believed: as long as an address space. A longer one comes from nobody of ours.
const FRAME_MAX: u64 = 1 << 47;
/// Where the gap stands in the head, above the length.
const GAP_AT: u32 = 56;

/// A frame's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the frame.
    pub length: usize,
    /// Bytes between the head and the frame, less than [`LINE`].
    pub gap: usize,
}

impl Head {
    /// That of a frame to be sent.
    pub fn before(frame: &Message) -> Self {
        let length = frame.len();
        let gap = if length < LONG { 0 } else { gap_of(frame) };
        Self { length, gap }
    }

    /// Puts it and the gap before the frame.
    pub fn push_onto(self, frame: &mut Message) {
        if self.gap > 0 {
            frame.push(&[0; LINE][..self.gap]);
        }
        frame.push(&((self.gap as u64) << GAP_AT | self.length as u64).to_le_bytes());
    }

    /// One that came; nothing if it is none of ours.
    pub fn of(bytes: [u8; HEAD]) -> Option<Self> {
        let word = u64::from_le_bytes(bytes);
        let (gap, length) = (word >> GAP_AT, word & ((1 << GAP_AT) - 1));
        let is_ours =
            length <= FRAME_MAX && (gap == 0 || gap < LINE as u64 && length >= LONG as u64);
        let length = usize::try_from(length).ok().filter(|_| is_ours)?;
        Some(Self {
            length,
            gap: gap as usize,
        })
    }

    /// Bytes before the frame.
    pub fn before_frame(self) -> usize {
        HEAD + self.gap
    }
}

/// The gap by which a frame's first long piece lies in the connection as in memory, if the frame begins at a multiple of [`LINE`].
fn gap_of(frame: &Message) -> usize {
    let mut before = HEAD;
    for slice in frame.slices() {
        if slice.len() >= LONG {
            return slice.as_ptr().addr().wrapping_sub(before) % LINE;
        }
        before += slice.len();
    }
    0
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_long_payload_lies_in_the_connection_and_at_the_receiver_as_in_memory() {
        let memory = Bytes::from(vec![7; 2 * LONG]);
        for (shift, header) in
            (0..2 * LINE).flat_map(|shift| [(shift, 0), (shift, 13), (shift, 40)])
        {
            let payload = memory.slice(shift..);
            let at = payload.as_ptr().addr();
            let mut frame = Message::from(payload);
            frame.push(&[1; 40][..header]);
            let head = Head::before(&frame);
            assert_eq!((head.before_frame() + header) % LINE, at % LINE);
            head.push_onto(&mut frame);
            let came = Head::of(frame.pop().expect("a head"));
            assert_eq!(came, Some(head));
            assert_eq!(frame.len(), head.gap + head.length);
        }
    }

    #[test]
    fn short_frames_have_no_gap() {
        let head = Head::before(&Message::from(vec![7; LONG - 1]));
        assert_eq!(
            (head.gap, head.before_frame(), head.length),
            (0, HEAD, LONG - 1)
        );
    }

    #[test]
    fn heads_that_nobody_of_ours_writes_are_none() {
        let of = |gap: u64, length: u64| Head::of((gap << GAP_AT | length).to_le_bytes());
        assert!(of(0, FRAME_MAX).is_some() && of(15, LONG as u64).is_some());
        for (gap, length) in [(0, FRAME_MAX + 1), (16, LONG as u64), (1, LONG as u64 - 1)] {
            assert_eq!(of(gap, length), None, "{gap} {length}");
        }
        assert_eq!(Head::of([0xff; HEAD]), None);
        assert_eq!(Head::of(FAREWELL), None);
    }
}
