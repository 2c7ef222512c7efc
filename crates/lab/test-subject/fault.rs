//! Broken rules, one at a time.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

macro_rules! faults {
    ($($(#[$about:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// Fault of the subject.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            $($(#[$about])* $name),+
        }

        impl Fault {
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

faults! {
    /// Never answers `batch`.
    Hangs = "hangs",
    /// Spins instead of answering `batch`.
    Spins = "spins",
    /// Aborts at `batch`, after some last words.
    Crashes = "crashes",
    /// Ends with code 0 at `batch`.
    ExitsEarly = "exits-early",
    /// Ends with code 3 at `hello`, after some last words.
    FailsAtOnce = "fails-at-once",
    /// Answers `batch` with a line that is no protocol line.
    Rubbish = "rubbish",
    /// Answers `batch` with bytes that are not UTF-8.
    NotText = "not-text",
    /// Answers `batch` with a line that never ends.
    EndlessLine = "endless-line",
    /// Lists tests without end.
    EndlessList = "endless-list",
    /// Prints its own output before timing begins.
    PrintsWhileTiming = "prints-while-timing",
    /// Prints half a line of its own before the answer to `list`.
    HalfLine = "half-line",
    /// Says its own things, whole lines, before each answer: allowed.
    Talks = "talks",
    /// The reference's checksum is not the chain's.
    WrongReference = "wrong-reference",
    /// Checksums differ for equal iterations.
    UnsteadyChecksum = "unsteady-checksum",
    /// Test and control come in the wrong order.
    WrongOrder = "wrong-order",
    /// One slice is missing.
    MissingSlice = "missing-slice",
    /// Every slice takes equally long.
    NeverGrows = "never-grows",
    /// No thread reports.
    SilentThreads = "silent-threads",
    /// Threads report another processor.
    WrongProcessor = "wrong-processor",
    /// A partner reports another processor.
    PartnerElsewhere = "partner-elsewhere",
    /// Threads report another policy.
    WrongPolicy = "wrong-policy",
    /// A clock reading is missing.
    MissingReading = "missing-reading",
    /// A gap is counted but not reported.
    MissingGap = "missing-gap",
    /// Gaps come last first.
    GapsBackwards = "gaps-backwards",
    /// The loop for gaps ends at once.
    ShortLoop = "short-loop",
    /// The clock goes back.
    ClockGoesBack = "clock-goes-back",
    /// The clock ticks once in 1500 readings, each time by 4 ms: allowed.
    CoarseClock = "coarse-clock",
    /// A test is listed twice.
    TwiceListed = "twice-listed",
    /// The hand-off is not listed.
    NoHandoff = "no-handoff",
    /// Hello names a clock that is not listed.
    OtherClock = "other-clock",
    /// Hello says that it counts context switches itself: allowed.
    CountsSwitches = "counts-switches",
    /// A test takes more iterations than it says.
    NoMost = "no-most",
    /// A sample is missing.
    MissingSample = "missing-sample",
    /// The storage loop does not say how it ended.
    NoOutcome = "no-outcome",
    /// Answers any request that it does not know with `ok`.
    TakesAnything = "takes-anything",
    /// Each slice of a test takes memory that it never gives back: allowed.
    Leaks = "leaks",
    /// Each slice of a test fills more of a buffer that was reserved at once: allowed.
    FillsBuffer = "fills-buffer",
    /// An arena is filled in the same way.
    FillsArena = "fills-arena",
    /// Speaks version 2.
    Version = "version",
    /// Does not end at `quit`.
    NeverQuits = "never-quits",
    /// Ends with code 7 at `quit`.
    QuitCode = "quit-code",
}

/// Does the action of faults that precede an answer.
pub fn before_answer(fault: Option<Fault>, line: &str) {
    let Some(fault) = fault else { return };
    let verb = line.split(' ').next().unwrap_or_default();
    match (fault, verb) {
        (Fault::HalfLine, "list") => print!("half a line "),
        (Fault::FailsAtOnce, "hello") => {
            eprintln!("no valve is connected");
            std::process::exit(3);
        }
        (Fault::Hangs, "batch") => loop {
            std::thread::sleep(Duration::from_secs(1000));
        },
        (Fault::Spins, "batch") => loop {
            std::hint::spin_loop();
        },
        (Fault::Crashes, "batch") => {
            eprintln!("the valve is stuck");
            std::process::abort();
        }
        (Fault::ExitsEarly, "batch") => {
            eprintln!("enough for today");
            std::process::exit(0);
        }
        (Fault::Rubbish, "batch") => println!("@@ slices galore"),
        (Fault::NotText, "batch") => write(b"@@ slice \xff\n"),
        (Fault::EndlessLine, "batch") => loop {
            write(&[b'x'; 4096]);
        },
        (Fault::EndlessList, "list") => {
            let lines = "@@ test name=self.same kind=frame most=1\n".repeat(4096);
            loop {
                write(lines.as_bytes());
            }
        }
        (Fault::TakesAnything, verb) if !KNOWN.contains(&verb) => {
            println!("@@ ok");
        }
        _ => {}
    }
}

const KNOWN: [&str; 11] = [
    "hello",
    "list",
    "clock",
    "gaps",
    "placement",
    "batch",
    "slice",
    "latency",
    "series",
    "usage",
    "quit",
];

fn write(bytes: &[u8]) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(bytes);
    let _ = stdout.flush();
}

/// Acts just before a batch's first slice.
pub fn timing_begins(fault: Option<Fault>) {
    if fault == Some(Fault::PrintsWhileTiming) {
        println!("now I begin");
    }
}

/// Takes 256 KiB and writes to them, or writes to more of its reservation.
pub fn leak(fault: Option<Fault>, role: &str) {
    match fault.filter(|_| role == "test") {
        Some(Fault::Leaks) => {
            std::mem::forget(std::hint::black_box(vec![1u8; 256 << 10]));
        }
        Some(Fault::FillsBuffer) => fill(15 << 20),
        Some(Fault::FillsArena) => fill(64 << 20),
        _ => {}
    }
}

/// Writes to the next bytes of the capacity that the first call reserves, and from the beginning
/// after the last. The bytes are few, because a busy machine repeats slices, and the end must not
/// be reached.
fn fill(capacity: usize) {
    const MORE: usize = 8 << 10;
    static RESERVED: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
    if reserved.capacity() == 0 {
        reserved.reserve_exact(capacity);
    }
    if reserved.len() + MORE > capacity {
        reserved.clear();
    }
    let filled = reserved.len() + MORE;
    reserved.resize(filled, 1);
}

/// Changes a correct answer as some faults do.
pub fn change(fault: Option<Fault>, mut lines: Vec<String>) -> Vec<String> {
    let Some(fault) = fault else { return lines };
    let verb = |line: &String| line.split(' ').nth(1).map(str::to_owned);
    let first = |verb_wanted: &str| {
        lines
            .iter()
            .position(|line| verb(line).as_deref() == Some(verb_wanted))
    };
    match (fault, first("slice"), first("readings")) {
        (Fault::Talks, _, _) => lines.insert(0, "done, so far as I can tell\n".into()),
        (Fault::WrongReference, Some(_), _) => {
            replace_word(&mut lines, "reference", 13, |_| "42".into())
        }
        (Fault::UnsteadyChecksum, Some(_), _) => {
            let mut count = 0;
            replace_word(&mut lines, "test", 13, |_| {
                count += 1;
                count.to_string()
            });
        }
        (Fault::WrongOrder, Some(_), _) if lines.len() > 3 => lines.swap(1, 2),
        (Fault::MissingSlice, Some(first), _) => {
            lines.remove(first);
        }
        (Fault::NeverGrows, Some(_), _) => {
            for role in ["control", "test", "reference"] {
                replace_word(&mut lines, role, 6, |_| "20000".into());
            }
        }
        (Fault::SilentThreads, ..) => lines.retain(|line| !line.starts_with("@@ thread")),
        (Fault::WrongProcessor, ..) => lie(&mut lines, "@@ thread", &ELSEWHERE),
        (Fault::PartnerElsewhere, ..) => lie(&mut lines, "@@ thread role=partner", &ELSEWHERE),
        (Fault::WrongPolicy, ..) => lie(&mut lines, "@@ thread", &[("policy=", "policy=1")]),
        (Fault::MissingReading, _, Some(first)) => {
            let shorter = lines[first]
                .rsplit_once(' ')
                .map(|(rest, _)| rest.to_owned());
            lines[first] = shorter.unwrap_or_default();
        }
        (Fault::MissingGap, ..) if first("gap").is_some() => {
            lines.remove(0);
        }
        (Fault::GapsBackwards, ..) if first("gap").is_some() => {
            let gaps = lines
                .iter()
                .filter(|line| line.starts_with("@@ gap"))
                .count();
            lines[..gaps].reverse();
        }
        (Fault::ShortLoop, ..) if first("loop").is_some() => {
            for line in &mut lines {
                *line = line.replace(" elapsed=", " elapsed=1 was=");
            }
        }
        (Fault::ClockGoesBack, _, Some(first)) => {
            let (rest, _) = lines[first].rsplit_once(' ').unwrap_or_default();
            lines[first] = format!("{rest} -5");
        }
        (Fault::TwiceListed, None, None) if lines.len() > 2 => {
            let again: Vec<String> = lines
                .iter()
                .filter(|line| line.contains("self.same"))
                .cloned()
                .collect();
            lines.extend(again);
        }
        (Fault::NoHandoff, None, None) => lines.retain(|line| !line.contains("self.handoff")),
        (Fault::OtherClock, None, None) => {
            for line in &mut lines {
                *line = line.replace(" clock=steady", " clock=sundial");
            }
        }
        (Fault::CountsSwitches, None, None) => {
            for line in &mut lines {
                *line = line.replace(" clock=steady", " clock=steady switches=own");
            }
        }
        (Fault::NoMost, None, None) => {
            for line in &mut lines {
                *line = line.replace(" most=100000", " most=1000");
            }
        }
        (Fault::MissingSample, None, None) if first("sample").is_some() => {
            lines.remove(0);
        }
        (Fault::NoOutcome, _, _) => lines.retain(|line| !line.starts_with("@@ outcome")),
        (Fault::Version, None, None) => {
            for line in &mut lines {
                *line = line.replace("protocol=1", "protocol=2");
            }
        }
        _ => {}
    }
    lines
}

/// Another processor than any that there is.
const ELSEWHERE: [(&str, &str); 2] = [("processor=", "processor=9"), ("allowed=", "allowed=9")];

/// Changes lines that begin so.
fn lie(lines: &mut [String], begins: &str, changes: &[(&str, &str)]) {
    for line in lines.iter_mut().filter(|line| line.starts_with(begins)) {
        *line = changes
            .iter()
            .fold(line.clone(), |line, (from, to)| line.replace(from, to));
    }
}

/// Replaces a word of each slice of a role; words are counted from the mark, 0.
fn replace_word(
    lines: &mut [String],
    role: &str,
    index: usize,
    mut with: impl FnMut(&str) -> String,
) {
    for line in lines.iter_mut() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if words.get(1).map(String::as_str) == Some("slice")
            && words.get(3).map(String::as_str) == Some(role)
            && let Some(word) = words.get_mut(index)
        {
            *word = with(word);
            *line = words.join(" ");
        }
    }
}
