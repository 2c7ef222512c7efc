//! Output and input of the other machines, which go through the first one.
//!
//! A machine sends its output before its next message. So a machine that receives this message
//! writes later. Letters to the first machine keep their order. Before a letter to another machine,
//! the first machine has confirmed that it has written the output.
//!
//! A thread of the first machine writes. The reader of the program's output may pause for long, and
//! panda's threads must not wait for it: other machines would take this one for lost.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::inbox::Event;
use super::letters::Letter;
use super::session::{self, Link, link};
use super::{own, waits};
use crate::flavour::Flavour;
use crate::layout::At;
use crate::process::{self, Role};
use crate::{files, options, scan};

use antiphon_fiber::{Many, One};

/// Bytes that this machine has given out, and those that the first machine has written.
static COUNTS: Mutex<(u64, u64)> = Mutex::new((0, 0));
static WRITTEN: Condvar = Condvar::new();

/// Bytes of one machine that the first machine may have to write before that machine waits.
const MOST_UNWRITTEN: u64 = 1 << 20;

/// Makes the first machine write a text.
pub fn relay(descriptor: i32, text: &[u8]) {
    let Some(link) = link() else { return };
    wait_for_at_most(MOST_UNWRITTEN);
    COUNTS.lock().0 += text.len() as u64;
    let _ = link.post(0, &Letter::Output { descriptor }, text.to_vec());
}

/// Notes that the first machine has written that many bytes.
pub fn written(count: u64) {
    COUNTS.lock().1 += count;
    WRITTEN.notify_all();
}

/// Waits on this OS thread until the first machine has at most that many bytes to write.
fn wait_for_at_most(bytes: u64) {
    let mut counts = COUNTS.lock();
    while counts.0 - counts.1 > bytes {
        WRITTEN.wait(&mut counts);
    }
}

/// Writes out this machine's output before it sends a letter to another one.
pub fn settle(to: u32) {
    files::flush_standard_output();
    if own() == 0 || to == 0 {
        return;
    }
    wait_for_at_most(0);
}

/// A message that reached the first machine.
enum Heard {
    /// Output of another machine.
    Output {
        from: u32,
        descriptor: i32,
        text: Bytes,
    },
    /// An event that came after output.
    Event(Event),
}

/// Output of other machines that is not written yet, and the events that came after it.
struct Writing {
    queue: VecDeque<Heard>,
    /// Whether the writing thread handles a message that it has taken from the queue.
    is_busy: bool,
}

impl Writing {
    fn is_over(&self) -> bool {
        self.queue.is_empty() && !self.is_busy
    }
}

static WRITING: Mutex<Writing> = Mutex::new(Writing {
    queue: VecDeque::new(),
    is_busy: false,
});
/// Signals that the queue has grown, or that everything is handled.
static CHANGED: Condvar = Condvar::new();

/// Starts the writing thread of the first machine.
///
/// # Errors
/// The system refuses another thread.
pub fn begin_to_write(link: &'static Link) -> std::io::Result<()> {
    let write = move || {
        // Without a reader the program ends as it does at a write of its own.
        session::let_through(libc::SIGPIPE);
        let mut writing = WRITING.lock();
        loop {
            let Some(heard) = writing.queue.pop_front() else {
                writing.is_busy = false;
                CHANGED.notify_all();
                CHANGED.wait(&mut writing);
                continue;
            };
            writing.is_busy = true;
            MutexGuard::unlocked(&mut writing, || handle(link, heard));
        }
    };
    std::thread::Builder::new().spawn(write).map(drop)
}

fn handle(link: &Link, heard: Heard) {
    match heard {
        Heard::Output {
            from,
            descriptor,
            text,
        } => {
            files::append(descriptor, &text);
            let count = text.len() as u64;
            let _ = link.post(from, &Letter::Written { count }, Vec::new());
        }
        Heard::Event(event) => link.protocol.inbox.push(event),
    }
}

/// Takes output of another machine, which the writing thread writes.
pub fn take(from: u32, descriptor: i32, text: Bytes) {
    let heard = Heard::Output {
        from,
        descriptor,
        text,
    };
    WRITING.lock().queue.push_back(heard);
    CHANGED.notify_all();
}

/// Passes an event to the serving process, after the output that came before it is written.
pub fn pass(link: &Link, event: Event) {
    let mut writing = WRITING.lock();
    match writing.is_over() {
        true => link.protocol.inbox.push(event),
        false => writing.queue.push_back(Heard::Event(event)),
    }
}

/// Waits on this OS thread until the output that came is written.
pub fn finish() {
    let mut writing = WRITING.lock();
    while !writing.is_over() {
        CHANGED.wait(&mut writing);
    }
}

/// Lines that other machines wait for.
static READERS: Mutex<(bool, VecDeque<(u32, u64)>)> = Mutex::new((false, VecDeque::new()));

/// Returns the next line of the program's input; empty at its end.
pub fn read_line(at: At) -> Vec<u8> {
    fn of<S: Flavour>(at: At) -> Vec<u8> {
        // SAFETY: called by a process.
        let (_, line) =
            unsafe { waits::ask::<S>(at, 0, |token| Letter::Read { token }, Vec::new()) };
        line.to_vec()
    }
    match options::is_many() {
        true => of::<Many>(at),
        false => of::<One>(at),
    }
}

/// Reads a line for another machine. One process reads whole lines for all.
pub fn serve_reader<S: Flavour>(from: u32, token: u64) {
    let mut readers = READERS.lock();
    readers.1.push_back((from, token));
    if std::mem::replace(&mut readers.0, true) {
        return;
    }
    drop(readers);
    let nowhere = std::ptr::null();
    // SAFETY: a process of no instance.
    unsafe {
        process::start::<S>(
            nowhere,
            std::ptr::null_mut(),
            nowhere.cast(),
            Role::System,
            |_| {
                loop {
                    let next = {
                        let mut readers = READERS.lock();
                        let next = readers.1.pop_front();
                        readers.0 = next.is_some();
                        next
                    };
                    let Some((to, token)) = next else { return };
                    let line = scan::whole_line(std::ptr::null());
                    if let Some(link) = link() {
                        let _ = link.post(to, &Letter::Line { token }, line);
                    }
                }
            },
        );
    }
}
