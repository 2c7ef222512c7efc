//! The console of a virtual machine.

use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result};
use pvm3::Console;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{
    Context as LineContext, Editor, ExternalPrinter, Helper, Highlighter, Hinter, Validator,
};
use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const PROMPT: &str = "pvm> ";

/// The commands, with their arguments and effects.
const COMMANDS: [(&str, &str, &str); 11] = [
    ("spawn", "[-N] [->] PROGRAM ARGUMENT…", "start N tasks (1)"),
    ("ps", "", "list the tasks"),
    ("conf", "", "list the hosts"),
    ("kill", "TID…", "end tasks"),
    ("sig", "NUMBER TID…", "send a signal to tasks"),
    (
        "add",
        "HOST…",
        "add hosts (a machine has the hosts that it began with)",
    ),
    ("delete", "HOST…", "take hosts out (the same)"),
    ("version", "", "show the version of PVM that this is"),
    ("halt", "", "end all tasks and the machine"),
    ("quit", "", "leave, once all tasks have ended"),
    ("help", "", "list the commands"),
];

/// The effect of a command on the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    /// Waits for the tasks, and leaves.
    Quit,
    /// Ends the tasks, and leaves.
    Halt,
}

/// Completes commands.
#[derive(Helper, Hinter, Highlighter, Validator)]
struct Commands;

impl Completer for Commands {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &LineContext<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let begun = &line[..position];
        let names = COMMANDS.iter().map(|(name, ..)| *name);
        let fitting = names.filter(|name| name.starts_with(begun));
        let pairs = fitting.map(|name| Pair {
            display: name.into(),
            replacement: format!("{name} "),
        });
        Ok((0, pairs.collect()))
    }
}

/// Runs commands until one ends the console, or no more come.
pub fn run() -> Result<Exit> {
    match std::io::stdin().is_terminal() {
        true => converse(),
        false => obey(),
    }
}

/// Runs commands from a file or a pipe.
fn obey() -> Result<Exit> {
    let console = Arc::new(super::machine(super::show)?);
    super::end_with_reader(&console);
    for line in std::io::stdin().lock().lines() {
        match execute(&console, &line.context("cannot read commands")?) {
            Next::GoOn => {}
            Next::Quit => break,
            Next::Halt => {
                console.end();
                break;
            }
        }
    }
    console.wait();
    output::passed_on().map(|()| Exit::Done)
}

/// Runs commands from a person.
fn converse() -> Result<Exit> {
    let mut editor: Editor<Commands, FileHistory> =
        Editor::new().context("cannot edit lines on this terminal")?;
    editor.set_helper(Some(Commands));
    let history = history();
    if let Some(history) = &history {
        // At the first start there is no history.
        let _ = editor.load_history(history);
    }
    let printer = editor
        .create_external_printer()
        .context("cannot write beside the prompt")?;
    let printer = Arc::new(Mutex::new(printer));
    let console = super::machine(move |tid, line| {
        let text = format!("[{tid}] {}\n", String::from_utf8_lossy(line));
        if let Ok(mut printer) = printer.lock() {
            let _ = printer.print(text);
        }
    })?;
    loop {
        let next = match editor.readline(PROMPT) {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                execute(&console, &line)
            }
            Err(ReadlineError::Interrupted) => Next::GoOn,
            Err(ReadlineError::Eof) => Next::Quit,
            // The terminal is closed.
            Err(_) => Next::Halt,
        };
        match next {
            Next::GoOn => continue,
            Next::Quit if console.tasks().is_empty() => {}
            Next::Quit => {
                print(format_args!("tasks run: `halt` ends them"));
                continue;
            }
            Next::Halt => console.end(),
        }
        break;
    }
    if let Some(history) = &history {
        if let Some(folder) = history.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = editor.save_history(history);
    }
    Ok(Exit::Done)
}

/// Returns the file of earlier commands.
fn history() -> Option<PathBuf> {
    let state = env::var_os("XDG_STATE_HOME").filter(|folder| !folder.is_empty());
    let state = state.map(PathBuf::from);
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
    Some(state.or_else(home)?.join("antiphon/pvm_history"))
}

/// Prints a line. The reader may have closed the output, which is no error.
fn print(text: impl Display) {
    let text = text.to_string();
    output::pass_on(format!("{}\n", antiphon_outside::text(&text)).as_bytes());
}

/// Runs the command in a line.
fn execute(console: &Console, line: &str) -> Next {
    let mut words = line.split_whitespace();
    let Some(command) = words.next() else {
        return Next::GoOn;
    };
    let words: Vec<&str> = words.collect();
    match command {
        "spawn" => spawn(console, &words),
        "ps" => {
            for task in console.tasks() {
                let (tid, parent, pid, name) = (task.tid, task.parent, task.pid, task.name);
                print(format_args!("{tid:>8} {parent:>8} {pid:>8}  {name}"));
            }
        }
        "conf" => {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            print(format_args!("1 host: {}", host.trim()));
        }
        "kill" => signal(console, &words, 15),
        "sig" => match words.split_first() {
            Some((number, tids)) => match number.parse() {
                Ok(number) => signal(console, tids, number),
                Err(_) => print(format_args!("{number} is no number of a signal")),
            },
            None => print(format_args!("sig NUMBER TID…")),
        },
        "add" | "delete" => print(format_args!(
            "a virtual machine has the hosts that it began with: `antiphon launch --hosts FILE` starts programs on several"
        )),
        "version" => print(format_args!("3.4.6")),
        "halt" => return Next::Halt,
        "quit" => return Next::Quit,
        "help" => {
            for (name, takes, does) in COMMANDS {
                print(format_args!("{name:<8} {takes:<28} {does}"));
            }
        }
        other => print(format_args!(
            "there is no command {other}: `help` lists them"
        )),
    }
    Next::GoOn
}

fn spawn(console: &Console, words: &[&str]) {
    let (count, words) = match words.split_first() {
        Some((first, rest)) => match first.strip_prefix('-').map(str::parse) {
            Some(Ok(count)) => (count, rest),
            _ => (1, words),
        },
        None => (1, words),
    };
    // After this word PVM's console shows the output. Here the console always shows it.
    let words = words.strip_prefix(&["->"]).unwrap_or(words);
    let Some((program, arguments)) = words.split_first() else {
        return print(format_args!("spawn [-N] [->] PROGRAM ARGUMENT…"));
    };
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    match console.spawn(program.as_ref(), &arguments, count) {
        Ok(tasks) => {
            for task in tasks {
                match task {
                    Ok(tid) => print(format_args!("{tid}")),
                    Err(why) => print(format_args!("{why}")),
                }
            }
        }
        Err(error) => print(format_args!("{error}")),
    }
}

fn signal(console: &Console, tids: &[&str], number: i32) {
    for tid in tids {
        if let Err(error) = console.signal(tid, number) {
            print(format_args!("{error}"));
        }
    }
}
