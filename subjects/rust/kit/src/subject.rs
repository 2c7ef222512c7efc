//! The main program: one request, one answer, until the laboratory has had enough.

use crate::answer::{Answer, Refusal, close, encode};
use crate::batches::{Prepared, argument, batch};
use crate::clocks::{CLOCKS, OWN};
use crate::request::{Request, number, read_line};
use crate::resources::answer_usage;
use crate::self_tests;
use crate::sequences::{clock, gaps, latency, other_kind, series};
use crate::slices::{OwnSwitches, Timer};
use crate::test::{Body, Test};
use crate::threads::{Placement, place};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

type Placed = Box<dyn FnMut(Placement) -> Result<(), String>>;

/// A program that is measured: its tests, and what it adds to the kit's way to serve them.
pub struct Subject {
    language: String,
    tests: Vec<Test>,
    own_switches: Option<OwnSwitches>,
    on_placement: Option<Placed>,
}

impl Subject {
    /// One with the kit's own tests. `language` is for people.
    pub fn new(language: impl Into<String>) -> Self {
        Subject {
            language: language.into(),
            tests: self_tests::tests(),
            own_switches: None,
            on_placement: None,
        }
    }

    /// With a test more.
    ///
    /// # Panics
    /// If there is one of the name.
    pub fn test(mut self, test: Test) -> Self {
        let known = self.tests.iter().any(|known| known.name == test.name);
        assert!(!known, "there are two tests of the name `{}`", test.name);
        self.tests.push(test);
        self
    }

    /// With several more, as [`test`](Self::test).
    pub fn tests(self, tests: impl IntoIterator<Item = Test>) -> Self {
        tests.into_iter().fold(self, Subject::test)
    }

    /// Counts context switches itself: `count` gives those so far, of all processes that take part; its differences are told as voluntary
    /// ones (`switches=own`). It is called before and after each slice, outside of what is timed.
    pub fn own_switches(mut self, count: impl FnMut() -> u64 + 'static) -> Self {
        self.own_switches = Some(Box::new(count));
        self
    }

    /// Does what more a placement asks for, once all threads of this process are where they belong: such as moving the processes of partners.
    /// An error is answered `unsupported`.
    pub fn on_placement(
        mut self,
        moved: impl FnMut(Placement) -> Result<(), String> + 'static,
    ) -> Self {
        self.on_placement = Some(Box::new(moved));
        self
    }

    /// Serves requests from standard input until `quit` or its end. The calling thread is the one that measures.
    pub fn serve(self) -> ExitCode {
        match self.serve_on(&mut io::stdin().lock(), &mut io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the laboratory can no longer be talked to: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// The same over other channels, for tests. An error is one of theirs.
    pub fn serve_on(self, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
        let mut server = Server {
            language: self.language,
            tests: self.tests,
            timer: Timer::new(self.own_switches),
            on_placement: self.on_placement,
            prepared: Prepared::default(),
            placed: false,
        };
        let outcome = server.run(input, output);
        server.prepared.finish();
        outcome
    }
}

struct Server {
    language: String,
    tests: Vec<Test>,
    timer: Timer,
    on_placement: Option<Placed>,
    prepared: Prepared,
    placed: bool,
}

impl Server {
    fn run(&mut self, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
        while let Some(line) = read_line(input)? {
            let (outcome, quit) = match &line {
                Ok(line) => self.answer(line),
                Err(refusal) => (Err(Refusal::bad_argument(&refusal.text)), false),
            };
            close(outcome, output)?;
            if quit {
                break;
            }
        }
        Ok(())
    }

    /// The answer to a line, and whether it is the last one.
    fn answer(&mut self, line: &str) -> (Result<Answer, Refusal>, bool) {
        match Request::parse(line) {
            Err(refusal) => (Err(refusal), false),
            Ok(request) => {
                let outcome = self.serve(&request);
                let quit = request.verb() == "quit" && outcome.is_ok();
                (outcome, quit)
            }
        }
    }

    fn serve(&mut self, request: &Request<'_>) -> Result<Answer, Refusal> {
        match request.verb() {
            "hello" => self.hello(request),
            "list" => self.list(request),
            "clock" => clock(request),
            "gaps" => gaps(request, &self.timer),
            "placement" => self.placement(request),
            "batch" => self.batch(request),
            "slice" => self.slice(request),
            "latency" => {
                self.prepared.finish();
                latency(named(&self.tests, request)?, request)
            }
            "series" => {
                self.prepared.finish();
                series(named(&self.tests, request)?, request)
            }
            "usage" => {
                let [] = request.words("usage")?;
                let mut answer = Answer::default();
                answer_usage(&mut answer);
                Ok(answer)
            }
            "quit" => {
                let [] = request.words("quit")?;
                self.prepared.finish();
                Ok(Answer::default())
            }
            unknown => Err(Refusal {
                code: "unknown-request",
                text: unknown.to_owned(),
            }),
        }
    }

    fn hello(&self, request: &Request<'_>) -> Result<Answer, Refusal> {
        let [version] = request.words("hello VERSION")?;
        if number("VERSION", version, 0, u64::MAX)? != 1 {
            return Err(Refusal {
                code: "version",
                text: "speaks 1".to_owned(),
            });
        }
        let mut answer = Answer::default();
        answer.line(format_args!(
            "hello protocol=1 language={} kit={} clock={OWN}{}",
            encode(&self.language),
            env!("CARGO_PKG_VERSION"),
            match self.timer.counts_switches() {
                true => " switches=own",
                false => "",
            }
        ));
        Ok(answer)
    }

    fn list(&self, request: &Request<'_>) -> Result<Answer, Refusal> {
        let [] = request.words("list")?;
        let mut answer = Answer::default();
        for clock in CLOCKS {
            answer.line(format_args!(
                "clock name={} unit={}",
                clock.name, clock.unit
            ));
        }
        for test in &self.tests {
            answer.line(format_args!("{}", listed(test)));
        }
        Ok(answer)
    }

    fn placement(&mut self, request: &Request<'_>) -> Result<Answer, Refusal> {
        self.prepared.finish();
        if self.placed {
            let text = "placement was given before; it is given once, after hello";
            return Err(Refusal::bad_argument(text));
        }
        let placement = parse_placement(request.positional())?;
        let unsupported = |text| Refusal {
            code: "unsupported",
            text,
        };
        place(placement).map_err(|error| {
            unsupported(format!(
                "the system does not let threads run there: {error}"
            ))
        })?;
        if let Some(moved) = &mut self.on_placement {
            moved(placement).map_err(unsupported)?;
        }
        self.placed = true;
        Ok(Answer::default())
    }

    fn batch(&mut self, request: &Request<'_>) -> Result<Answer, Refusal> {
        self.prepared.finish();
        let test = frame(&self.tests, request)?;
        let [_] = request.words("batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]")?;
        batch(test, argument(test, request)?, request, &mut self.timer)
    }

    fn slice(&mut self, request: &Request<'_>) -> Result<Answer, Refusal> {
        let test = frame(&self.tests, request)?;
        let arg = argument(test, request)?;
        self.prepared.slice(test, arg, request, &mut self.timer)
    }
}

/// The test that the first positional word names.
fn named<'t>(tests: &'t [Test], request: &Request<'_>) -> Result<&'t Test, Refusal> {
    let name = request.positional().first().copied().unwrap_or_default();
    let Some(test) = tests.iter().find(|test| test.name == name) else {
        return Err(Refusal {
            code: "unknown-test",
            text: format!("{name}; `list` names the tests"),
        });
    };
    match &test.absent {
        None => Ok(test),
        Some(why) => Err(Refusal {
            code: "unsupported",
            text: format!("{name}: {why}"),
        }),
    }
}

fn frame<'t>(tests: &'t [Test], request: &Request<'_>) -> Result<&'t Test, Refusal> {
    let test = named(tests, request)?;
    match test.body {
        Body::Frame(_) => Ok(test),
        _ => Err(other_kind(test, "frame")),
    }
}

fn listed(test: &Test) -> String {
    let mut line = format!("test name={} kind={}", test.name, test.body.kind());
    let mut field = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            line += &format!(" {key}={}", encode(&value));
        }
    };
    field("arg", test.arg_unit.clone());
    field("switches", test.switches.clone());
    field(
        "threads",
        (test.threads > 1).then(|| test.threads.to_string()),
    );
    field("work", test.work.clone());
    field("most", test.most_iterations.map(|most| most.to_string()));
    field("absent", test.absent.clone());
    line
}

fn parse_placement(words: &[&str]) -> Result<Placement, Refusal> {
    let processor =
        |word: &str| number("a processor", word, 0, u64::from(u32::MAX) - 1).map(|p| p as u32);
    match words {
        ["free"] => Ok(Placement::Free),
        ["same", one] => Ok(Placement::Same {
            processor: processor(one)?,
        }),
        ["across", main, partner] => {
            let (main, partner) = (processor(main)?, processor(partner)?);
            match main == partner {
                true => Err(Refusal::bad_argument(
                    "across wants two processors; `placement same` is for one",
                )),
                false => Ok(Placement::Across { main, partner }),
            }
        }
        _ => Err(Refusal::bad_argument(
            "write: placement same P, placement across P Q, or placement free",
        )),
    }
}
