//! Answers: meaning of a subject's lines. Any bytes may come in; nothing here panics.

use super::words::{Fields, SyntaxError, known, number, words};
use super::{MARK, request::role_word};
use antiphon_measure::{ClockGap, GapLoop, LatencySample, Role, Slice, ThreadReport};
use std::num::NonZero;

/// One line of a subject's standard output.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// The subject's own output, which is no protocol line.
    Own,
    /// A data line.
    Data(Data),
    /// The closing line of an answer that went well.
    Ok,
    /// The closing line of an answer that did not.
    Error(Refusal),
}

/// A subject's refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One of the protocol's codes, such as `unknown-test`.
    pub code: String,
    /// The subject's explanation; may be empty.
    pub text: String,
}

/// Content of a data line.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Identity of the subject.
    Hello(Hello),
    /// A clock it can read.
    Clock(ClockInfo),
    /// A test it knows.
    Test(TestInfo),
    /// Absolute readings of a clock, in the clock's unit.
    Readings(Vec<i64>),
    /// A timed run of a frame.
    Slice(Slice),
    /// Report of a thread about itself.
    Thread(ThreadReport),
    /// One operation of a latency series.
    Sample(LatencySample),
    /// One gap of a clock.
    Gap(ClockGap),
    /// Totals of a loop for gaps; its gaps have lines of their own.
    Loop(GapLoop),
    /// End of a storage loop.
    Outcome(Outcome),
    /// Resource use.
    Usage(Usage),
}

/// Identity of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the protocol that it speaks.
    pub protocol: u64,
    /// The language it is written in.
    pub language: String,
    /// The version of its kit; empty if it does not say.
    pub kit: String,
    /// The clock that its times are read from.
    pub clock: String,
    /// Whether it counts context switches itself, such as those of several processes.
    pub counts_switches: bool,
}

/// A clock of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockInfo {
    /// Its name, to ask for readings by.
    pub name: String,
    /// The unit of its readings.
    pub unit: ClockUnit,
}

/// The unit of a clock's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// The clock's own ticks.
    Ticks,
}

/// A test of a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct TestInfo {
    /// `[a-z0-9_.-]+`, unique in its subject.
    pub name: String,
    /// Kind of request that runs the test.
    pub kind: TestKind,
    /// Unit of the argument it takes (`ns`, `bytes`, `count`); `None` when it takes none.
    pub arg: Option<String>,
    /// Expected context switches per operation under placement `same`, voluntary and involuntary
    /// together. 0 means no voluntary ones; `None` means undeclared.
    pub switches: Option<f64>,
    /// Number of threads in one operation.
    pub threads: u32,
    /// Key of equal work across subjects.
    pub work: Option<String>,
    /// Reason why it cannot run here, with the remedy; `None` if it can.
    pub absent: Option<String>,
    /// Most iterations of a slice, for a test that keeps its memory until the slice ends; `None`
    /// without limit.
    pub most: Option<u64>,
}

/// Kind of request that runs a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestKind {
    /// Control and test loop: `batch` and `slice`.
    Frame,
    /// A distribution: `latency`.
    Latency,
    /// Clock readings of a storage loop: `series`.
    Series,
}

/// End of a storage loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Operations done.
    pub completed: u64,
    /// The exception or message with which the system refused storage; `None` when all were done.
    pub exhausted: Option<String>,
}

/// Resource use of a subject's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in user mode, ns.
    pub user_ns: u64,
    /// Processor time in the system, ns.
    pub system_ns: u64,
    /// Largest resident memory so far, bytes.
    pub peak_rss_bytes: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// Voluntary context switches.
    pub voluntary: u64,
    /// Involuntary context switches.
    pub involuntary: u64,
    /// Threads alive now.
    pub threads: u64,
}

/// Reads one line of standard output, without its line end.
///
/// # Errors
/// The line has the protocol's mark, but is not a protocol line.
pub fn parse_line(line: &str) -> Result<Line, SyntaxError> {
    let Some(text) = line.strip_prefix(MARK) else {
        return Ok(Line::Own);
    };
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(Line::Data(match word {
        "ok" if rest.is_empty() => return Ok(Line::Ok),
        "error" => return refusal(rest).map(Line::Error),
        "hello" => Data::Hello(hello(&Fields::parse(rest)?)?),
        "clock" => Data::Clock(clock(&Fields::parse(rest)?)?),
        "test" => Data::Test(test(&Fields::parse(rest)?)?),
        "thread" => Data::Thread(thread(&Fields::parse(rest)?)?),
        "loop" => Data::Loop(gap_loop(&Fields::parse(rest)?)?),
        "outcome" => Data::Outcome(outcome(&Fields::parse(rest)?)?),
        "usage" => Data::Usage(usage(&Fields::parse(rest)?)?),
        "readings" => Data::Readings(readings(rest)?),
        "slice" => Data::Slice(slice(rest)?),
        "sample" => Data::Sample(sample(rest)?),
        "gap" => Data::Gap(gap(rest)?),
        _ => {
            return Err(SyntaxError::new(format!(
                "`{word}` is no word that an answer can begin with"
            )));
        }
    }))
}

fn refusal(rest: &str) -> Result<Refusal, SyntaxError> {
    let (code, text) = rest.split_once(' ').unwrap_or((rest, ""));
    if code.is_empty() {
        return Err(SyntaxError::new("`@@ error` without a code"));
    }
    Ok(Refusal {
        code: code.to_owned(),
        text: text.to_owned(),
    })
}

fn hello(fields: &Fields<'_>) -> Result<Hello, SyntaxError> {
    Ok(Hello {
        protocol: fields.number("protocol")?,
        language: fields.text("language")?,
        kit: fields.optional("kit").unwrap_or_default(),
        counts_switches: fields.optional("switches").as_deref() == Some("own"),
        clock: fields.text("clock")?,
    })
}

fn clock(fields: &Fields<'_>) -> Result<ClockInfo, SyntaxError> {
    let unit = fields.text("unit")?;
    Ok(ClockInfo {
        name: fields.text("name")?,
        unit: match unit.as_str() {
            "ns" => ClockUnit::Nanoseconds,
            "ticks" => ClockUnit::Ticks,
            _ => {
                return Err(SyntaxError::new(format!(
                    "unit is `{unit}`: it must be `ns` or `ticks`"
                )));
            }
        },
    })
}

fn test(fields: &Fields<'_>) -> Result<TestInfo, SyntaxError> {
    let name = fields.text("name")?;
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-');
    if name.is_empty() || !name.bytes().all(allowed) {
        return Err(SyntaxError::new(format!(
            "the test's name `{name}` must be made of a-z, 0-9, `_`, `.` and `-`"
        )));
    }
    let kind = fields.text("kind")?;
    let switches = match fields.optional("switches") {
        None => None,
        Some(word) => {
            let switches: f64 = number("switches", &word)?;
            if !switches.is_finite() || switches < 0.0 {
                return Err(SyntaxError::new(format!(
                    "switches is `{word}`: it cannot be that many"
                )));
            }
            Some(switches)
        }
    };
    Ok(TestInfo {
        name,
        kind: match kind.as_str() {
            "frame" => TestKind::Frame,
            "latency" => TestKind::Latency,
            "series" => TestKind::Series,
            _ => {
                return Err(SyntaxError::new(format!(
                    "kind is `{kind}`: it must be `frame`, `latency` or `series`"
                )));
            }
        },
        arg: fields.optional("arg"),
        switches,
        threads: match fields.optional("threads") {
            None => 1,
            Some(word) => number("threads", &word)?,
        },
        work: fields.optional("work"),
        absent: fields.optional("absent"),
        most: match fields.optional("most") {
            None => None,
            Some(word) => Some(number::<NonZero<u64>>("most", &word)?.get()),
        },
    })
}

fn thread(fields: &Fields<'_>) -> Result<ThreadReport, SyntaxError> {
    Ok(ThreadReport {
        role: fields.text("role")?,
        policy: fields.text("policy")?,
        priority: fields.number("priority")?,
        processor: fields.number("processor")?,
        allowed: fields.text("allowed")?,
        count: fields.number("count")?,
    })
}

fn outcome(fields: &Fields<'_>) -> Result<Outcome, SyntaxError> {
    let end = fields.text("end")?;
    Ok(Outcome {
        completed: fields.number("completed")?,
        exhausted: match end.as_str() {
            "count" => None,
            "exhausted" => Some(fields.optional("text").unwrap_or_default()),
            _ => {
                return Err(SyntaxError::new(format!(
                    "end is `{end}`: it must be `count` or `exhausted`"
                )));
            }
        },
    })
}

fn usage(fields: &Fields<'_>) -> Result<Usage, SyntaxError> {
    Ok(Usage {
        user_ns: fields.number("user")?,
        system_ns: fields.number("system")?,
        peak_rss_bytes: fields.number("peak_rss")?,
        minor_faults: fields.number("minor")?,
        major_faults: fields.number("major")?,
        voluntary: fields.number("voluntary")?,
        involuntary: fields.number("involuntary")?,
        threads: fields.number("threads")?,
    })
}

/// Parses one absolute reading and its successors' differences into absolute readings.
fn readings(rest: &str) -> Result<Vec<i64>, SyntaxError> {
    let mut readings: Vec<i64> = Vec::new();
    for word in rest.split(' ') {
        let number: i64 = number("a reading", word)?;
        let reading = match readings.last() {
            None => Some(number),
            Some(last) => last.checked_add(number),
        };
        readings.push(reading.ok_or_else(|| {
            SyntaxError::new(format!(
                "the difference {word} leaves the range of 64 bits: only the first number of a line is absolute"
            ))
        })?);
    }
    Ok(readings)
}

fn slice(rest: &str) -> Result<Slice, SyntaxError> {
    let words: [&str; 12] = words(rest)?;
    let [
        block,
        role,
        iterations,
        start,
        elapsed,
        voluntary,
        involuntary,
        minor,
        major,
        wait,
        processor,
        checksum,
    ] = words;
    let role = [Role::Control, Role::Test, Role::Reference]
        .into_iter()
        .find(|known| role_word(*known) == role)
        .ok_or_else(|| {
            SyntaxError::new(format!(
                "the role is `{role}`: it must be `control`, `test` or `reference`"
            ))
        })?;
    Ok(Slice {
        block: number("block", block)?,
        role,
        iterations: number("iterations", iterations)?,
        start_ns: number("start", start)?,
        elapsed_ns: number("elapsed", elapsed)?,
        voluntary: number("voluntary", voluntary)?,
        involuntary: number("involuntary", involuntary)?,
        minor_faults: number("minor", minor)?,
        major_faults: number("major", major)?,
        wait_ns: known("wait", wait)?,
        processor: known("processor", processor)?,
        checksum: number("checksum", checksum)?,
    })
}

fn sample(rest: &str) -> Result<LatencySample, SyntaxError> {
    let [intended, actual, end] = words(rest)?;
    Ok(LatencySample {
        intended_ns: number("the intended start", intended)?,
        actual_ns: number("the actual start", actual)?,
        end_ns: number("the end", end)?,
    })
}

fn gap(rest: &str) -> Result<ClockGap, SyntaxError> {
    let [start, duration] = words(rest)?;
    Ok(ClockGap {
        start_ns: number("the start", start)?,
        duration_ns: number("the duration", duration)?,
    })
}

fn gap_loop(fields: &Fields<'_>) -> Result<GapLoop, SyntaxError> {
    Ok(GapLoop {
        readings: fields.number("readings")?,
        elapsed_ns: fields.number("elapsed")?,
        wait_ns: known("wait", &fields.text("wait")?)?,
        gaps: fields.number("gaps")?,
        lost_ns: fields.number("lost")?,
        kept: Vec::new(),
    })
}
