//! Lines to the laboratory. An answer is put together in memory and written at once, when it is whole.

use crate::threads::ThreadReport;
use std::fmt::{Arguments, Write as _};
use std::io::{self, Write};

/// An answer's line is at most 65536 bytes; a reading or difference takes 21 at most.
const READINGS_A_LINE: usize = 3000;

/// Why a request is not served.
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn bad_argument(text: impl Into<String>) -> Self {
        Refusal {
            code: "bad-argument",
            text: text.into(),
        }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Refusal {
            code: "failed",
            text: text.into(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Answer(String);

impl Answer {
    pub(crate) fn line(&mut self, line: Arguments<'_>) {
        let written = writeln!(self.0, "@@ {line}");
        written.expect("a String takes what is written");
    }

    pub(crate) fn readings(&mut self, readings: &[u64]) {
        for line in readings.chunks(READINGS_A_LINE) {
            let mut words = format!("readings {}", line[0]);
            for pair in line.windows(2) {
                let difference = pair[1].wrapping_sub(pair[0]) as i64;
                let written = write!(words, " {difference}");
                written.expect("a String takes what is written");
            }
            self.line(format_args!("{words}"));
        }
    }

    pub(crate) fn threads(&mut self, reports: &[(ThreadReport, u64)]) {
        for (report, count) in reports {
            self.line(format_args!("thread {report} count={count}"));
        }
    }
}

/// A field's value, with `%XX` where the protocol wants it.
pub(crate) fn encode(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\0'..=' ' | '%' | '=' | '\x7f' => {
                let written = write!(encoded, "%{:02X}", c as u32);
                written.expect("a String takes what is written");
            }
            plain => encoded.push(plain),
        }
    }
    encoded
}

/// Writes an answer with its closing line. An error means that nobody reads any more.
pub(crate) fn close(outcome: Result<Answer, Refusal>, output: &mut impl Write) -> io::Result<()> {
    let text = match outcome {
        Ok(answer) => answer.0 + "@@ ok\n",
        // The text may echo a request: its line ends with it, whatever it holds.
        Err(Refusal { code, text }) => {
            let text: String = text
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .take(1000)
                .collect();
            format!("@@ error {code} {text}\n")
        }
    };
    output.write_all(text.as_bytes())?;
    output.flush()
}
