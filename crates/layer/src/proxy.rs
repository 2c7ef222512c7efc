//! The subject as the laboratory sees it: it passes each request to a process group of the size
//! that the test needs.
//!
//! A session has a fixed size, and Open MPI starts once in a process's life. Another number of
//! members therefore needs a new process group, of new processes.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use antiphon_kit::Subject;

use crate::process_group::ProcessGroup;
use crate::tests::Test;
use crate::transport::Transport;

/// Processes of the first process group, which also serves requests without a test.
const FIRST: usize = 2;

/// Serves the laboratory until it has had enough.
pub fn serve(transport: Transport) -> ExitCode {
    let tests = transport.tests();
    if let Some(missing) = transport.missing() {
        return absent(tests, &missing);
    }
    let mut proxy = Proxy {
        transport,
        tests,
        process_group: None,
        placement: None,
    };
    match proxy.run(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the laboratory can no longer be talked to: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Names the tests, and says why none of them can run.
fn absent(tests: Vec<Test>, why: &str) -> ExitCode {
    let tests = tests.into_iter();
    let tests = tests.map(|test| antiphon_kit::Test::absent(test.name, why));
    Subject::new("Rust").tests(tests).serve()
}

struct Proxy {
    transport: Transport,
    tests: Vec<Test>,
    process_group: Option<ProcessGroup>,
    /// The request that placed the threads, for companies that come later.
    placement: Option<String>,
}

impl Proxy {
    fn run(&mut self, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            // Half a line at the end is no request.
            if line.pop() != Some(b'\n') {
                break;
            }
            let request = String::from_utf8_lossy(&line).into_owned();
            let answer = self.answer(&request);
            for line in &answer {
                writeln!(output, "{line}")?;
            }
            output.flush()?;
            let is_last = request == "quit" && answer.last().is_some_and(|line| line == "@@ ok");
            if is_last {
                break;
            }
            line.clear();
        }
        self.process_group
            .take()
            .into_iter()
            .for_each(ProcessGroup::end);
        Ok(())
    }

    /// Returns the answer, its closing line last.
    fn answer(&mut self, request: &str) -> Vec<String> {
        let answered = self
            .company_for(request)
            .and_then(|process_group| process_group.ask(request));
        let answer = answered.unwrap_or_else(|why| {
            // Its processes have ended, or some have: the next request gets others.
            self.process_group = None;
            vec![format!("@@ error failed {}", one_line(&why))]
        });
        let closing = answer.last().map_or("", String::as_str);
        if closing.starts_with("@@ error failed") {
            self.process_group = None;
        }
        if request.starts_with("placement ") && closing == "@@ ok" {
            self.placement = Some(request.to_owned());
        }
        answer
    }

    /// Returns the process group for a request. The size changes only for a test that needs it.
    fn company_for(&mut self, request: &str) -> Result<&mut ProcessGroup, String> {
        let present = self.process_group.as_ref().map(ProcessGroup::size);
        let size = self.members(request).or(present).unwrap_or(FIRST);
        if present != Some(size) {
            self.process_group
                .take()
                .into_iter()
                .for_each(ProcessGroup::end);
            self.process_group = Some(self.begin(size, request)?);
        }
        Ok(self.process_group.as_mut().expect("it was begun just now"))
    }

    /// Returns the number of members of a request's test.
    fn members(&self, request: &str) -> Option<usize> {
        let name = request.split(' ').nth(1)?;
        let test = self.tests.iter().find(|test| test.name == name);
        test.map(|test| test.members)
    }

    fn begin(&self, size: usize, request: &str) -> Result<ProcessGroup, String> {
        let mut process_group = ProcessGroup::start(self.transport, size)?;
        if let Some(placement) = &self.placement
            && !request.starts_with("placement ")
        {
            process_group.ask("hello 1")?;
            let placed = process_group.ask(placement)?;
            if placed.last().is_none_or(|line| line != "@@ ok") {
                return Err(placed.join(" "));
            }
        }
        Ok(process_group)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
