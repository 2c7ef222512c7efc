//! A subject under examination. It is started again if a rule needs a fresh process or has killed
//! the last one.

use crate::protocol::{ClockInfo, Data, Hello, MARK, Request, TestInfo, TestKind};
use crate::session::{Answer, Conversation, Launch, SessionError};
use antiphon_measure::{Placement, Slice, ThreadReport};
use std::time::Duration;

/// Time for any one answer.
const LIMIT: Duration = Duration::from_secs(20);

pub(super) struct Probe<'a> {
    launch: &'a Launch,
    conversation: Option<Conversation<'static>>,
    /// Whether the conversation has begun with `hello` and `placement`.
    greeted: bool,
    /// Own lines with the mark inside: the subject did not end its line before it answered.
    pub broken_lines: Vec<String>,
    /// Own lines in all.
    pub own_lines: usize,
}

/// Tests and clocks that the subject lists.
#[derive(Default)]
pub(super) struct Listed {
    pub tests: Vec<TestInfo>,
    pub clocks: Vec<ClockInfo>,
}

impl<'a> Probe<'a> {
    pub fn new(launch: &'a Launch) -> Self {
        Self {
            launch,
            conversation: None,
            greeted: false,
            broken_lines: Vec::new(),
            own_lines: 0,
        }
    }

    /// Starts the subject afresh and says nothing to it.
    pub fn restart(&mut self) -> Result<&mut Conversation<'static>, String> {
        self.restart_as(&self.launch.clone())
    }

    fn restart_as(&mut self, launch: &Launch) -> Result<&mut Conversation<'static>, String> {
        self.conversation = None;
        self.greeted = false;
        let started = Conversation::start(launch).map_err(|error| error.to_string())?;
        Ok(self.conversation.insert(started))
    }

    /// Starts the subject afresh under another placement.
    pub fn restart_placed(&mut self, placement: Placement) -> Result<(), String> {
        let mut launch = self.launch.clone();
        launch.placement = placement;
        self.restart_as(&launch)?;
        self.greet(placement)
    }

    /// Returns the subject's answer to a single `hello`.
    pub fn hello(&mut self) -> Result<Hello, String> {
        self.restart()?;
        let answer = self.ask_bare(&Request::Hello.to_string())?;
        match answer.data.as_slice() {
            [Data::Hello(hello)] => Ok(hello.clone()),
            _ => Err(format!(
                "the answer is not one `@@ hello` line: {}",
                shown(&answer)
            )),
        }
    }

    fn greet(&mut self, placement: Placement) -> Result<(), String> {
        let hello = Request::Hello.to_string();
        self.ask_bare(&hello)?;
        let placed = self.exchange(&Request::Placement(placement).to_string());
        self.greeted = true; // also if it refused: `placement` is sent at most once
        match placed {
            Err(SessionError::Refused { code, .. })
                if placement == Placement::Free && code == "unsupported" =>
            {
                Ok(())
            }
            Err(error) => Err(error.to_string()),
            Ok(_) => Ok(()),
        }
    }

    /// Asks a greeted subject; one that is dead is started again first.
    pub fn ask(&mut self, request: &str) -> Result<Answer, String> {
        self.ready()?;
        self.ask_bare(request)
    }

    /// Sends a request to the running process.
    pub fn ask_bare(&mut self, request: &str) -> Result<Answer, String> {
        self.exchange(request).map_err(|error| error.to_string())
    }

    /// Sends a request that the subject should refuse with this code.
    pub fn refused(&mut self, request: &str, due: &str) -> Result<(), String> {
        self.ready()?;
        self.refused_bare(request, due)
    }

    /// Sends a request to the running process and checks that it is refused with the code that is
    /// due.
    pub fn refused_bare(&mut self, request: &str, due: &str) -> Result<(), String> {
        match self.exchange(request) {
            Err(SessionError::Refused { code, .. }) if code == due => Ok(()),
            Err(SessionError::Refused { code, text, .. }) => Err(format!(
                "`{request}` gives `@@ error {code} {text}`, where the code `{due}` was due"
            )),
            Err(error) => Err(error.to_string()),
            Ok(answer) => Err(format!(
                "`{request}` is answered with {}, where `@@ error {due}` was due",
                shown(&answer)
            )),
        }
    }

    fn ready(&mut self) -> Result<(), String> {
        let alive = self.conversation.as_ref().is_some_and(Conversation::alive);
        if !(alive && self.greeted) {
            self.restart()?;
            self.greet(self.launch.placement)?;
        }
        Ok(())
    }

    fn exchange(&mut self, request: &str) -> Result<Answer, SessionError> {
        let Some(conversation) = &mut self.conversation else {
            unreachable!("every path here starts the subject first");
        };
        let answer = conversation.ask_line(request, LIMIT);
        for line in conversation.take_own_output() {
            self.own_lines += 1;
            if line.contains(MARK) {
                self.broken_lines.push(line);
            }
        }
        answer
    }

    /// Returns the greeted subject, for a rule that ends it.
    pub fn greeted(&mut self) -> Result<&mut Conversation<'static>, String> {
        self.ready()?;
        self.running()
    }

    /// Returns the subject in its current state.
    ///
    /// # Errors
    /// It does not run.
    pub fn running(&mut self) -> Result<&mut Conversation<'static>, String> {
        self.conversation
            .as_mut()
            .ok_or_else(|| "it does not run".into())
    }

    /// Asks the subject for its list.
    pub fn list(&mut self) -> Result<Listed, String> {
        let answer = self.ask("list")?;
        let mut listed = Listed::default();
        for (index, data) in answer.data.iter().enumerate() {
            match data {
                Data::Test(test) => listed.tests.push(test.clone()),
                Data::Clock(clock) => listed.clocks.push(clock.clone()),
                _ => {
                    return Err(format!(
                        "`{}` does not belong in a list",
                        answer.data_line(index)
                    ));
                }
            }
        }
        Ok(listed)
    }

    /// Returns the first test of a kind that can run.
    pub fn first_of(&mut self, kind: TestKind) -> Result<Option<TestInfo>, String> {
        let listed = self.list()?;
        let mut tests = listed.tests.into_iter();
        Ok(tests.find(|test| test.kind == kind && test.absent.is_none()))
    }

    /// Returns a batch's slices and thread reports.
    pub fn batch(&mut self, request: &str) -> Result<(Vec<Slice>, Vec<ThreadReport>), String> {
        let answer = self.ask(request)?;
        split(&answer)
    }
}

/// Splits an answer into slices and thread reports; any other line is an error.
pub(super) fn split(answer: &Answer) -> Result<(Vec<Slice>, Vec<ThreadReport>), String> {
    let (mut slices, mut threads) = (Vec::new(), Vec::new());
    for (index, data) in answer.data.iter().enumerate() {
        match data {
            Data::Slice(slice) => slices.push(slice.clone()),
            Data::Thread(thread) => threads.push(thread.clone()),
            _ => {
                return Err(format!(
                    "`{}` does not belong in a batch",
                    answer.data_line(index)
                ));
            }
        }
    }
    Ok((slices, threads))
}

/// Returns a shortened answer, for evidence.
pub(super) fn shown(answer: &Answer) -> String {
    const SHOWN: usize = 80;
    let first: String = answer.data_line(0).chars().take(SHOWN).collect();
    match answer.data.len() {
        0 => "`@@ ok` alone".into(),
        count => format!("{count} lines, the first of which begins `{first}`"),
    }
}

/// Returns the `arg` field for a test, with a leading space and a modest value of its unit.
pub(super) fn arg(test: &TestInfo) -> &'static str {
    match test.arg.as_deref() {
        None => "",
        Some("bytes") => " arg=64",
        Some("ns") => " arg=1000",
        Some(_) => " arg=10",
    }
}
