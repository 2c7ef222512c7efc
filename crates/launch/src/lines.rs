//! Output in lines, so that the output of several processes at once can be told apart.

use antiphon_panda::platform::Rank;
use antiphon_runner::Stream;

/// Longest line in bytes; longer ones are handed on in parts.
const LINE_MAX: usize = 64 << 10;

/// A line that a process wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Rank of its writer; `None` for the output of a starting program, such as `mpirun`.
    pub rank: Option<Rank>,
    /// Stream to which it was written.
    pub stream: Stream,
    /// Its text without the line end.
    pub text: Vec<u8>,
}

/// The lines of one output, put together.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes more of the output, and hands on complete lines.
    pub fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(Vec<u8>)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.begun.extend_from_slice(&bytes[..end]);
            if self.begun.last() == Some(&b'\r') {
                self.begun.pop();
            }
            line(std::mem::take(&mut self.begun));
            bytes = &bytes[end + 1..];
        }
        self.begun.extend_from_slice(bytes);
        if self.begun.len() > LINE_MAX {
            line(std::mem::take(&mut self.begun));
        }
    }

    /// Hands on the last line if it lacks its end, when the output is over.
    pub fn finish(&mut self, line: impl FnOnce(Vec<u8>)) {
        if !self.begun.is_empty() {
            line(std::mem::take(&mut self.begun));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut lines = Lines::default();
        let mut whole = Vec::new();
        for part in parts {
            lines.push(part, |line| whole.push(line));
        }
        lines.finish(|line| whole.push(line));
        whole
    }

    #[test]
    fn lines_are_put_together_from_parts() {
        assert_eq!(
            lines(&[b"a", b"b\nc\r\n\nd", b"e"]),
            [b"ab".to_vec(), b"c".to_vec(), vec![], b"de".to_vec()]
        );
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn an_endless_line_comes_in_parts() {
        let parts = vec![[b'x'; 5000].as_slice(); 100];
        let whole = lines(&parts);
        assert!(whole.iter().all(|line| line.len() <= LINE_MAX + 5000));
        assert_eq!(whole.iter().map(Vec::len).sum::<usize>(), 500_000);
    }
}
