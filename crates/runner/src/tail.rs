//! The last of a stream, in bounded memory.

use std::collections::VecDeque;

/// Keeps the last `max` bytes of all that is pushed.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
    max: usize,
    dropped: u64,
}

impl Tail {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            max,
            dropped: 0,
        }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let kept = &chunk[chunk.len().saturating_sub(self.max)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.max);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
        self.dropped += (excess + chunk.len() - kept.len()) as u64;
    }

    /// Returns the text, from the first whole line on if earlier text was dropped.
    pub(crate) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let whole = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) if self.dropped > 0 && end + 1 < bytes.len() => &bytes[end + 1..],
            _ => &bytes[..],
        };
        String::from_utf8_lossy(whole).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn keeps_the_last_whole_lines() {
        let mut tail = Tail::new(12);
        tail.push(b"first line\nsecond");
        tail.push(b" line\nend\n");
        assert_eq!(tail.text(), "end\n");
        assert_eq!(tail.dropped, 15);
    }

    #[test]
    fn keeps_everything_that_fits() {
        let mut tail = Tail::new(12);
        tail.push(b"one\n");
        tail.push(b"two\n");
        assert_eq!(tail.text(), "one\ntwo\n");
        assert_eq!(tail.dropped, 0);
    }

    #[test]
    fn a_single_endless_line_keeps_its_end() {
        let mut tail = Tail::new(4);
        tail.push(b"abcdefgh");
        assert_eq!(tail.text(), "efgh");
    }
}
