//! The head before each frame in a connection: its length, and a gap before long ones.
//!
//! The kernel copies by one instruction, `rep movsb`. On AMD's Zen 3 and Zen 4 it can take 290 ns a
//! KiB in place of 20 (glibc's bug 30994). That happens if the destination lies one to fifteen
//! bytes behind the source, both counted from the start of their page.
//!
//! The kernel's memory mostly begins with the frame at the start of a page. Memory of long payloads
//! begins there too, but for 16 bytes. With some bytes of headers before it, a payload would be
//! copied in and out in just that way.
//!
//! So a gap aligns the payload in the connection as in memory, modulo [`LINE`]. The receiver keeps
//! head and gap before it, too. Payloads at other addresses lose nothing by it.

use crate::message::Message;

/// Bytes of the head.
pub const HEAD: usize = size_of::<u64>();
/// Word that a leaving process sends in place of a head. No frame begins so, and nothing follows.
pub const FAREWELL: [u8; HEAD] = *b"farewell";
/// Unit in bytes in which payloads are aligned.
const LINE: usize = 16;
/// Length from which frames have a gap: shorter ones are copied in no time.
pub const LONG: usize = 16 << 10;
/// Longest frame that is believed: an address space. No process of ours sends a longer one.
const FRAME_MAX: u64 = 1 << 47;
/// Position of the gap in the head, above the length.
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
    /// Returns the head of a frame to send.
    pub fn before(frame: &Message) -> Self {
        let length = frame.len();
        let gap = if length < LONG { 0 } else { gap_of(frame) };
        Self { length, gap }
    }

    /// Puts the head and the gap before the frame.
    pub fn push_onto(self, frame: &mut Message) {
        if self.gap > 0 {
            frame.push(&[0; LINE][..self.gap]);
        }
        frame.push(&((self.gap as u64) << GAP_AT | self.length as u64).to_le_bytes());
    }

    /// Parses a head that came; returns `None` if it is none of ours.
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

    /// Returns how many bytes precede the frame.
    pub fn before_frame(self) -> usize {
        HEAD + self.gap
    }
}

/// Returns the gap that aligns a frame's first long piece in the connection as in memory, if the
/// frame begins at a multiple of [`LINE`].
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
