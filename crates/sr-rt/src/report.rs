//! Who a process is and what it waits for, in words.

use std::ffi::{CStr, c_int};

use antiphon_fiber::{Lock, Many, One, Overflow};

use crate::flavour::{self, Flavour};
use crate::instance;
use crate::layout::{Name, Program, name_of};
use crate::process::{self, Process, Role, Waits};
use crate::semaphore::Semaphore;
use crate::{errors, options};

// SAFETY of everything below: descriptors are never unmapped, names are static.

/// "component.op", "component.body" or "component.final"; none of the run-time's own.
///
/// # Safety
/// The descriptor of a process that lives.
pub unsafe fn name<S: Flavour>(process: *const Process<S>) -> Option<String> {
    unsafe {
        let name = name_of((*process).name);
        match (*process).role {
            Role::System => None,
            Role::Proc => Some(name.into()),
            Role::Body => Some(format!("{name}.body")),
            Role::Final => Some(format!("{name}.final")),
        }
    }
}

/// The running process.
pub fn running() -> Option<String> {
    if !flavour::has_begun() {
        return None;
    }
    fn of<S: Flavour>() -> Option<String> {
        let this = S::this();
        if this.is_null() {
            return None;
        }
        unsafe { name::<S>(this) }
    }
    if options::is_many() {
        of::<Many>()
    } else {
        of::<One>()
    }
}

/// A line for each process that is blocked, the newest first.
pub fn blocked<S: Flavour>() -> Vec<String> {
    let all = S::runtime().instances.lock().all.clone();
    let mut lines = Vec::new();
    for of in all {
        // A global's processes have ended with it: that they serve is why it is there.
        if unsafe { !(*(*of).component).global.is_null() } {
            continue;
        }
        unsafe {
            instance::each::<S>(of, |process| {
                if process::is_killed(process) {
                    return;
                }
                if let Some(name) = name(process) {
                    let place = errors::place((*process).head.at);
                    let mut line = format!("blocked process: {name} : {place}");
                    if !options::get().is_plain {
                        line.push_str(&waits_for::<S>((*process).waits_for));
                    }
                    lines.push(((*process).number, line));
                }
            });
        }
    }
    // As original SR: the newest first.
    lines.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn waits_for<S: Flavour>(what: Waits) -> String {
    let named = |before: &str, name: Name, otherwise: &str| match unsafe { name_of(name) } {
        "" => format!(", {otherwise}"),
        name => format!(", {before} {name}"),
    };
    match what {
        Waits::Nothing => String::new(),
        Waits::Semaphore(it) => {
            let name = unsafe { Semaphore::<S>::name(it.cast()) };
            named("waits for semaphore", name, "waits for a semaphore")
        }
        Waits::Invocation(name, _) => named(
            "waits for an invocation of",
            name,
            "waits for an invocation",
        ),
        Waits::Reply(name) => named("waits for a reply from", name, "waits for a reply"),
        Waits::Co => ", waits for invocations of its co".into(),
        Waits::Component(name) => named("waits for the end of", name, "waits for a component"),
        Waits::Ever => ", waits for noop".into(),
        Waits::Time => ", naps".into(),
    }
}

unsafe extern "C" {
    static sr_the_program: Program;
}

/// Tells of a stack overflow, on the signal's stack, with nothing but plain calls, and ends the process.
pub fn overflow<S: Flavour>(overflow: &Overflow) {
    let process: *const Process<S> = overflow.local.cast();
    let mut line = Line::default();
    unsafe {
        let (mut name, mut at) = ("", std::ptr::null());
        if !process.is_null() {
            name = name_of((*process).name);
            at = (*process).head.at;
        }
        let function = function_at(overflow.instruction);
        if let Some(function) = function.filter(|f| !f.at.is_null()) {
            at = function.at;
        }
        line.add("RTS abort: ");
        if let Some(at) = at.as_ref() {
            line.add("file ");
            line.add(name_of(at.file));
            line.add(", line ");
            line.add_number(at.line as u64);
            line.add(":\n   ");
        }
        line.add("stack overflow of ");
        line.add_number(overflow.stack_bytes as u64);
        line.add(" bytes");
        if !options::get().is_plain {
            if !name.is_empty() {
                line.add(" in process ");
                line.add(name);
            }
            if let Some(function) = function {
                line.add(", in ");
                line.add(name_of(function.name));
            }
            line.add("; recurse less deeply, or give processes larger stacks (stack=BYTES)");
        }
        line.add("\n");
        libc::write(2, line.text.as_ptr().cast(), line.length);
        libc::_exit(1 as c_int);
    }
}

/// The program's function that an instruction belongs to: the last that begins before it.
unsafe fn function_at<'a>(instruction: usize) -> Option<&'a crate::layout::Function> {
    unsafe {
        let program = &raw const sr_the_program;
        let count = usize::try_from((*program).functions_count).unwrap_or(0);
        if (*program).functions.is_null() {
            return None;
        }
        let functions = std::slice::from_raw_parts((*program).functions, count);
        let before = functions.iter().filter(|f| f.code as usize <= instruction);
        before.max_by_key(|f| f.code as usize)
    }
}

/// A message that is put together without an allocation.
struct Line {
    text: [u8; 1024],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            text: [0; 1024],
            length: 0,
        }
    }
}

impl Line {
    fn add(&mut self, part: &str) {
        let room = &mut self.text[self.length..];
        let length = part.len().min(room.len());
        room[..length].copy_from_slice(&part.as_bytes()[..length]);
        self.length += length;
    }

    fn add_number(&mut self, number: u64) {
        let mut digits = [0_u8; 21];
        // SAFETY: 20 digits and a zero at most.
        let text = unsafe {
            libc::snprintf(
                digits.as_mut_ptr().cast(),
                digits.len(),
                c"%llu".as_ptr(),
                number,
            );
            CStr::from_ptr(digits.as_ptr().cast())
        };
        self.add(text.to_str().unwrap_or("?"));
    }
}
