//! Question and answer with a running subject, line by line, for sessions and conformance checks.

use super::{Launch, SessionError};
use crate::protocol::{
    ANSWER_LINES_MAX, ANSWER_MAX, Data, Line, REQUEST_MAX, Refusal, Request, parse_line,
};
use antiphon_runner::{End, Error, Process, Usage};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Kept part of the subject's own output, bytes.
const OWN_OUTPUT_MAX: usize = 64 << 10;

/// Part of it in an error, lines.
const LAST_LINES: usize = 20;

/// A line as it came in.
#[derive(Clone, Debug)]
pub struct RawLine {
    /// The line, without its line end.
    pub text: String,
    /// Time of reading.
    pub at: Instant,
    /// Whether it is the subject's own output rather than a protocol line.
    pub own: bool,
}

/// An answer that ended in `@@ ok`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The request's line.
    pub request: String,
    /// The data lines, read.
    pub data: Vec<Data>,
    /// Indices of the data lines in `lines`.
    places: Vec<usize>,
    /// All lines, also the subject's own.
    pub lines: Vec<RawLine>,
    /// Just before the request was written: the subject cannot have begun before.
    pub asked: Instant,
}

impl Answer {
    /// Checks that it has no data lines.
    pub(super) fn nothing(&self, conversation: &mut Conversation<'_>) -> Result<(), SessionError> {
        match self.data.first() {
            None => Ok(()),
            Some(_) => Err(conversation.rubbish_line(
                &self.request,
                self.data_line(0),
                "only `@@ ok` was due".into(),
            )),
        }
    }

    /// Returns the text of a data line.
    pub fn data_line(&self, index: usize) -> &str {
        let line = self
            .places
            .get(index)
            .and_then(|place| self.lines.get(*place));
        line.map_or("@@ ok", |line| line.text.as_str())
    }
}

/// A running subject that answers requests, for as long as the user does not stop it.
pub struct Conversation<'s> {
    subject: String,
    process: Process,
    own_output: VecDeque<String>,
    own_bytes: usize,
    /// Cause of the subject's death, if it is dead.
    over: Option<String>,
    /// Flag of the user's, if there is one: the subject is then killed in any state. It is not
    /// checked during a write, because a pipe takes a request at once.
    stop: Option<&'s AtomicBool>,
}

impl Conversation<'static> {
    /// Starts the subject; says nothing to it yet.
    ///
    /// # Errors
    /// [`SessionError::NotStarted`].
    pub fn start(launch: &Launch) -> Result<Self, SessionError> {
        Conversation::start_unless(launch, None)
    }
}

impl<'s> Conversation<'s> {
    /// Starts the conversation; every later wait ends as soon as `stop` is set.
    pub(super) fn start_unless(
        launch: &Launch,
        stop: Option<&'s AtomicBool>,
    ) -> Result<Self, SessionError> {
        let subject = launch.subject.clone();
        let started = match launch.program() {
            Some(program) => program.spawn(),
            None => Err(Error::BadRequest {
                program: subject.clone(),
                why: "its `run` is empty".into(),
            }),
        };
        match started {
            Ok(process) => Ok(Self {
                subject,
                process,
                own_output: VecDeque::new(),
                own_bytes: 0,
                over: None,
                stop,
            }),
            Err(source) => Err(SessionError::NotStarted { subject, source }),
        }
    }

    /// Returns the number of the subject's process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Sends a request and reads the answer to its end.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn ask(&mut self, request: &Request<'_>, limit: Duration) -> Result<Answer, SessionError> {
        self.ask_line(&request.to_string(), limit)
    }

    /// Asks with any line.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn ask_line(&mut self, request: &str, limit: Duration) -> Result<Answer, SessionError> {
        self.ready(request)?;
        self.process.set_deadline(Some(limit));
        let answer = self
            .exchange(request)
            .and_then(|answer| match self.read(answer)? {
                (answer, None) => Ok(answer),
                (_, Some(refusal)) => Err(self.refused(request, refusal)),
            });
        match &answer {
            Err(error) if !error.lives_on() => {
                self.over = Some(error.reason());
                self.process.kill();
            }
            _ => self.process.set_deadline(None),
        }
        answer
    }

    fn ready(&self, request: &str) -> Result<(), SessionError> {
        if let Some(cause) = &self.over {
            return Err(SessionError::Over {
                subject: self.subject.clone(),
                cause: cause.clone(),
            });
        }
        if request.len() > REQUEST_MAX || request.contains('\n') {
            return Err(SessionError::BadRequest {
                subject: self.subject.clone(),
                request: request.chars().take(80).collect(),
                why: format!("a request is one line of at most {REQUEST_MAX} bytes"),
            });
        }
        match self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(self.interrupted(request)),
            _ => Ok(()),
        }
    }

    /// Reads the next line of an answer.
    fn read_line(&mut self) -> Result<String, Error> {
        match self.stop {
            Some(stop) => self.process.read_line_unless(stop),
            None => self.process.read_line(),
        }
    }

    fn interrupted(&self, request: &str) -> SessionError {
        SessionError::Interrupted {
            subject: self.subject.clone(),
            request: request.to_owned(),
        }
    }

    fn exchange(&mut self, request: &str) -> Result<Answer, SessionError> {
        let asked = Instant::now();
        self.process
            .write_line(request)
            .map_err(|error| self.failed(request, error))?;
        Ok(Answer {
            request: request.to_owned(),
            data: Vec::new(),
            places: Vec::new(),
            lines: Vec::new(),
            asked,
        })
    }

    fn read(&mut self, mut answer: Answer) -> Result<(Answer, Option<Refusal>), SessionError> {
        let mut bytes = 0;
        loop {
            let text = self
                .read_line()
                .map_err(|error| self.failed(&answer.request, error))?;
            let at = Instant::now();
            bytes += text.len();
            if bytes > ANSWER_MAX || answer.lines.len() >= ANSWER_LINES_MAX {
                let why = format!(
                    "an answer is at most {ANSWER_LINES_MAX} lines and {} MiB, with what the subject prints of its own",
                    ANSWER_MAX >> 20
                );
                return Err(self.rubbish_line(&answer.request, &text, why));
            }
            let line = parse_line(&text)
                .map_err(|error| self.rubbish_line(&answer.request, &text, error.why))?;
            let own = line == Line::Own;
            if own {
                self.keep_own(&text);
            }
            answer.lines.push(RawLine { text, at, own });
            match line {
                Line::Own => {}
                Line::Ok => return Ok((answer, None)),
                Line::Error(refusal) => return Ok((answer, Some(refusal))),
                Line::Data(data) => {
                    answer.places.push(answer.lines.len() - 1);
                    answer.data.push(data);
                }
            }
        }
    }

    fn keep_own(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        self.own_bytes += line.len();
        self.own_output.push_back(line.to_owned());
        while self.own_bytes > OWN_OUTPUT_MAX {
            let Some(first) = self.own_output.pop_front() else {
                break;
            };
            self.own_bytes -= first.len();
        }
    }

    /// Takes the subject's own output so far.
    pub fn take_own_output(&mut self) -> Vec<String> {
        self.own_bytes = 0;
        self.own_output.drain(..).collect()
    }

    /// Checks whether the subject still answers, as far as is known.
    pub fn alive(&self) -> bool {
        self.over.is_none()
    }

    /// Closes the subject's standard input.
    pub fn close_input(&mut self) {
        self.process.close_input();
    }

    /// Waits for the subject to end by itself, as it should after `quit`; returns its resource use.
    ///
    /// # Errors
    /// [`SessionError::Hung`], [`SessionError::Crashed`] or [`SessionError::Interrupted`].
    pub fn end(&mut self, limit: Duration) -> Result<Usage, SessionError> {
        let waited = match self.stop {
            Some(stop) => self.process.wait_unless(limit, stop),
            None => self.process.wait(limit),
        };
        self.over = Some("it was asked to end".into());
        let error = match waited {
            Ok((End::Exited(0), usage)) => return Ok(usage),
            Ok((end, _)) => end.into_error(self.subject.clone(), self.process.last_words()),
            Err(error) => error,
        };
        Err(self.failed("quit", error))
    }

    /// Returns the subject's last output: on standard error, and its own on standard output.
    pub fn last_words(&self) -> String {
        let stderr = self.process.last_words();
        let skipped = self.own_output.len().saturating_sub(LAST_LINES);
        let own = self.own_output.iter().skip(skipped).map(String::as_str);
        let lines: Vec<&str> = stderr.lines().collect();
        let lines = &lines[lines.len().saturating_sub(LAST_LINES)..];
        own.chain(lines.iter().copied())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns an error at an answer's last data line. It ends the subject, as the two below do.
    pub(super) fn rubbish(&mut self, answer: &Answer, why: String) -> SessionError {
        let last = answer.data.len().saturating_sub(1);
        self.rubbish_line(&answer.request, answer.data_line(last), why)
    }

    /// Returns an error at the first data line of an answer that has an unexpected kind.
    pub(super) fn unexpected(&mut self, answer: &Answer, expected: &str) -> SessionError {
        let foreign = answer.data.iter().enumerate().position(|(index, _)| {
            let line = answer.data_line(index);
            let word = line.split(' ').nth(1).unwrap_or_default();
            !expected.split("` or `").any(|one| one == word)
        });
        let (line, why) = match foreign {
            Some(index) => (
                answer.data_line(index),
                format!("a `@@ {expected}` line was due"),
            ),
            None => (
                "@@ ok",
                format!(
                    "one `@@ {expected}` line was due before it, and {} came",
                    answer.data.len()
                ),
            ),
        };
        self.rubbish_line(&answer.request, line, why)
    }

    pub(super) fn rubbish_line(&mut self, request: &str, line: &str, why: String) -> SessionError {
        const SHOWN: usize = 200;
        self.process.kill();
        self.over = Some(format!(
            "it answered `{request}` against the protocol: {why}"
        ));
        SessionError::Rubbish {
            subject: self.subject.clone(),
            request: request.to_owned(),
            line: line.chars().take(SHOWN).collect(),
            why: why.into(),
            last_words: self.last_words(),
        }
    }

    fn refused(&self, request: &str, refusal: Refusal) -> SessionError {
        SessionError::Refused {
            subject: self.subject.clone(),
            request: request.to_owned(),
            code: refusal.code,
            text: refusal.text,
            last_words: self.last_words(),
        }
    }

    /// Turns a failure of the process into one of the subject.
    fn failed(&mut self, request: &str, error: Error) -> SessionError {
        let subject = self.subject.clone();
        let request = request.to_owned();
        let last_words = self.last_words();
        let (signal, code) = match error {
            Error::TimedOut { limit, .. } => {
                return SessionError::Hung {
                    subject,
                    request,
                    limit,
                    last_words,
                };
            }
            Error::NotUtf8 { line, .. } => {
                return self.rubbish_line(&request, &line, "it is not UTF-8".into());
            }
            Error::LineTooLong {
                head, max_bytes, ..
            } => {
                let why = format!("the line that begins so is longer than {max_bytes} bytes");
                return self.rubbish_line(&request, &head, why);
            }
            Error::Interrupted { .. } => return self.interrupted(&request),
            Error::Exited { code: 0, .. } | Error::Closed { .. } => {
                return SessionError::ExitedEarly {
                    subject,
                    request,
                    last_words,
                };
            }
            Error::Signalled { signal, .. } => (Some(signal), None),
            Error::Exited { code, .. } => (None, Some(code)),
            source => return SessionError::NotStarted { subject, source },
        };
        SessionError::Crashed {
            subject,
            request,
            signal,
            code,
            last_words,
        }
    }
}
