//! Descriptions of processes and of what they wait for.

use std::ffi::c_int;
use std::ops::Range;

use antiphon_fiber::{Fibers, Lock, Many, One, Overflow, Threads};

use crate::flavour::{self, Flavour};
use crate::instance;
use crate::layout::{At, Function, Name, Op, Program, kind, name_of};
use crate::line::Line;
use crate::process::{self, Indices, Process, Role, Waits};
use crate::semaphore::Semaphore;
use crate::{errors, files, options};

/// Returns a name with an element's index in place of the empty brackets at its end.
///
/// # Safety
/// The name is null or static.
unsafe fn indexed(name: Name, index: i32) -> String {
    // SAFETY: by the contract.
    let name = unsafe { name_of(name) };
    if let Some(array) = name.strip_suffix("[]") {
        return format!("{array}[{index}]");
    }
    match name.strip_suffix("[,]") {
        Some(array) => format!("{array}[{},{}]", index >> 16, index as i16),
        None => name.into(),
    }
}

/// Returns "component.op", with the values of quantifiers if there are any, or "component.body" or
/// "component.final".
///
/// # Safety
/// The name is null or static.
pub unsafe fn in_words(name: Name, role: Role, indices: &Indices) -> String {
    let values = indices.values(name);
    // SAFETY: by the contract.
    let name = unsafe { name_of(name) };
    match role {
        Role::System => "run-time".into(),
        Role::Body => format!("{name}.body"),
        Role::Final => format!("{name}.final"),
        Role::Proc if values.is_empty() => name.into(),
        Role::Proc => {
            let values: Vec<String> = values.iter().map(i32::to_string).collect();
            format!("{name}({})", values.join(","))
        }
    }
}

/// Returns the name of a process; none if it belongs to the run-time.
///
/// # Safety
/// The descriptor of a process.
pub unsafe fn name<S: Flavour>(process: *const Process<S>) -> Option<String> {
    // SAFETY: by the contract.
    let process = unsafe { &*process };
    let has_name = process.role != Role::System;
    // SAFETY: names are static.
    has_name.then(|| unsafe { in_words(process.name, process.role, &process.indices) })
}

/// Returns the name of the running process.
pub fn running() -> Option<String> {
    if !flavour::has_begun() {
        return None;
    }
    fn of<S: Flavour>() -> Option<String> {
        let this = S::this();
        if this.is_null() {
            return None;
        }
        // SAFETY: the descriptor is the caller's own.
        unsafe { name::<S>(this) }
    }
    if options::is_many() {
        of::<Many>()
    } else {
        of::<One>()
    }
}

/// Calls a function for each living process of the program, in all instances.
fn each<S: Flavour>(with_globals: bool, mut look: impl FnMut(*mut Process<S>)) {
    let all = S::runtime().instances.lock().all.clone();
    for of in all {
        // SAFETY: instances and components are never unmapped, and a listed process keeps its
        // descriptor.
        unsafe {
            let is_global = !(*(*of).component).global.is_null();
            if is_global && !with_globals {
                continue;
            }
            instance::each::<S>(of, |process| {
                if !process::is_killed(process) && (*process).role != Role::System {
                    look(process);
                }
            });
        }
    }
}

/// The processes that are blocked when no process can go on.
pub struct AtRest {
    /// A line for each process, the newest first.
    pub lines: Vec<String>,
    /// Whether a process waits for an action of another process. One that waits for an invocation
    /// does not count: it is a server without clients.
    pub is_deadlock: bool,
}

/// Returns the blocked processes, at a time when no process can go on.
pub fn at_rest<S: Flavour>() -> AtRest {
    let main = S::runtime().instances.lock().main;
    let mut blocked = Vec::new();
    let mut is_deadlock = false;
    // Processes of globals do not count: they exist to serve, and end with their global.
    // SAFETY: `each` passes descriptors, which are never unmapped.
    each::<S>(false, |process| unsafe {
        let it = &*process;
        let Some(name) = name(process) else { return };
        let mut line = format!("blocked process: {name} : {}", errors::place(it.head.at));
        if !options::get().is_plain {
            line.push_str(&waits_for(process));
        }
        blocked.push((it.number, line));
        let is_main = it.role == Role::Body && main.is_some_and(|(of, _)| of == it.instance);
        is_deadlock |= is_main || waits_for_others(it);
    });
    // The newest comes first, as in original SR.
    blocked.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    AtRest {
        lines: blocked.into_iter().map(|(_, line)| line).collect(),
        is_deadlock,
    }
}

/// Whether a blocked process waits for more than a client.
fn waits_for_others<S: Flavour>(process: &Process<S>) -> bool {
    match process.waits_for {
        Waits::Semaphore(_) | Waits::Reply(_) | Waits::Co | Waits::Component(_) => true,
        // An input statement that a monitor's translation has generated stands for another
        // construct.
        Waits::Invocation(..) => !what_at(process).is_empty() && !is_input(what_at(process)),
        #[cfg(feature = "machines")]
        Waits::Machine(_) => true,
        Waits::Nothing | Waits::Ever | Waits::Time | Waits::Input => false,
    }
}

/// Returns what a process waits for according to its place; empty if the place does not say.
fn what_at<S: Flavour>(process: &Process<S>) -> &'static str {
    // SAFETY: places are static.
    unsafe { process.head.at.as_ref().map_or("", |at| name_of(at.what)) }
}

/// Whether a place says that the process waits for an invocation.
fn is_input(what: &str) -> bool {
    what.starts_with("an invocation")
}

/// Returns what a blocked process waits for, after a comma.
unsafe fn waits_for<S: Flavour>(process: *const Process<S>) -> String {
    let waits = |before: &str, name: String, otherwise: &str| match &name[..] {
        "" => format!(", waits for {otherwise}"),
        name => format!(", waits for {before}{name}"),
    };
    // SAFETY: descriptors and operations are never unmapped; a semaphore lives while it is waited
    // for.
    unsafe {
        let it = &*process;
        let op_name = |op: *mut Op| match op.as_ref() {
            Some(op) if op.kind == kind::INPUT => indexed(op.name, op.index),
            Some(op) => name_of(op.name).into(),
            None => String::new(),
        };
        match it.waits_for {
            Waits::Nothing => String::new(),
            Waits::Semaphore(semaphore) => {
                let (name, index, holder) = Semaphore::<S>::described(semaphore.cast());
                let name = indexed(name, index);
                // A name of two words already says what kind of object it is.
                let before = if name.contains(' ') { "" } else { "semaphore " };
                let held = match name_of_holder(process, holder) {
                    Some(holder) => format!(", which {holder} holds"),
                    None => String::new(),
                };
                waits(before, name, "a semaphore") + &held
            }
            Waits::Invocation(..) if !what_at(it).is_empty() => {
                format!(", waits for {}", what_at(it))
            }
            Waits::Invocation(op, _) => waits("an invocation of ", op_name(op), "an invocation"),
            Waits::Reply(op) => waits("a reply from ", op_name(op), "a reply"),
            Waits::Co => ", waits for invocations of its co".into(),
            Waits::Component(name) => waits(
                "the end of ",
                name_of(name).into(),
                "the end of a component",
            ),
            #[cfg(feature = "machines")]
            Waits::Machine(machine) => format!(", waits for virtual machine {}", machine + 1),
            Waits::Ever => ", waits for noop".into(),
            Waits::Time => ", naps".into(),
            Waits::Input => ", waits for input".into(),
        }
    }
}

/// Returns the name of the process that holds the object that another one waits for.
unsafe fn name_of_holder<S: Flavour>(
    waiting: *const Process<S>,
    holder: *const Process<S>,
) -> Option<String> {
    if holder.is_null() {
        return None;
    }
    // SAFETY: descriptors are never unmapped.
    let name = unsafe { name(holder) }?;
    Some(match std::ptr::eq(waiting, holder) {
        true => format!("{name} itself"),
        false => name,
    })
}

/// The limit of lines in a report of what every process does.
const MOST_LINES: usize = 100;

/// Returns a line for each process of the program, the oldest first. `running` is the innermost
/// generated function of the caller's process, or none if the caller is a server that waits for
/// work.
pub fn everywhere<S: Flavour>(running: Option<&'static Function>) -> Vec<String> {
    let this = match running {
        Some(_) => S::this(),
        None => std::ptr::null_mut(),
    };
    let mut all = Vec::new();
    // SAFETY: `each` passes descriptors, which are never unmapped.
    each::<S>(true, |process| unsafe {
        let it = &*process;
        let Some(name) = name(process) else { return };
        let is_waiting = it.fiber.is_some_and(|fiber| fiber.is_waiting());
        let state = match running.filter(|_| process == this) {
            Some(function) => format!(", runs, in {}", name_of(function.name)),
            None if is_waiting => waits_for(process),
            // It may be running on another server.
            None if options::is_many() => ", runs or is ready".into(),
            None => ", is ready".into(),
        };
        let place = errors::place(it.head.at);
        all.push((it.number, format!("{name} : {place}{state}")));
    });
    all.sort_by_key(|(number, _)| *number);
    let further = all.len().saturating_sub(MOST_LINES);
    let mut lines: Vec<String> = all.into_iter().map(|(_, line)| line).collect();
    lines.truncate(MOST_LINES);
    if further > 0 {
        lines.push(format!("and {further} more"));
    }
    lines
}

/// Returns the program that the run-time is linked with.
#[cfg(not(test))]
fn program() -> Option<&'static Program> {
    unsafe extern "C" {
        static sr_the_program: Program;
    }
    // SAFETY: defined by generated code, and never changed.
    Some(unsafe { &sr_the_program })
}

/// Unit tests have no program.
#[cfg(test)]
fn program() -> Option<&'static Program> {
    None
}

/// The running process, as far as it can be found in a signal handler or without memory.
pub struct Running {
    name: Name,
    role: Role,
    indices: Indices,
    /// The place that it recorded last.
    recorded: At,
    /// The innermost generated function.
    function: Option<&'static Function>,
}

impl Running {
    /// Finds the calling process, and the generated function that called the run-time.
    pub fn find() -> Running {
        fn of<S: Flavour>() -> Running {
            let in_use = Fibers::<S>::stack_in_use();
            // SAFETY: the range is the part of the caller's stack that is in use.
            let function = in_use.and_then(|stack| unsafe { calling_function(stack) });
            Running::of(S::this(), function)
        }
        match () {
            () if !flavour::has_begun() => Running::of::<One>(std::ptr::null(), None),
            () if options::is_many() => of::<Many>(),
            () => of::<One>(),
        }
    }

    /// Describes the process that a signal interrupted at an instruction. The caller is the
    /// interrupted thread, which does not go on: no tick switches it any more.
    pub fn at_instruction(instruction: usize) -> Running {
        fn of<S: Flavour>(instruction: usize) -> Running {
            if !Fibers::<S>::is_caller() {
                return Running::of::<S>(std::ptr::null(), None);
            }
            std::mem::forget(Fibers::<S>::enter());
            Running::of(S::this(), function_at(instruction))
        }
        match options::is_many() {
            true => of::<Many>(instruction),
            false => of::<One>(instruction),
        }
    }

    /// Describes a process whose function is known.
    pub fn of<S: Flavour>(
        process: *const Process<S>,
        function: Option<&'static Function>,
    ) -> Running {
        // SAFETY: null, or a descriptor, which is never unmapped.
        match unsafe { process.as_ref() } {
            None => Running {
                name: std::ptr::null(),
                role: Role::System,
                indices: Indices::NONE,
                recorded: std::ptr::null(),
                function,
            },
            Some(process) => Running {
                name: process.name,
                role: process.role,
                indices: process.indices,
                recorded: process.head.at,
                function,
            },
        }
    }

    /// Returns the place: that of the function, or otherwise the one that the process recorded
    /// last.
    pub fn at(&self) -> At {
        let own = self.function.map(|function| function.at);
        own.filter(|at| !at.is_null()).unwrap_or(self.recorded)
    }
}

/// Appends " in process p(1), in main.f" and the end of the line, if the process is the program's.
pub fn add_process(line: &mut Line, running: &Running) {
    // SAFETY: names are static.
    let name = unsafe { name_of(running.name) };
    if running.role == Role::System {
        return;
    }
    line.add("   in process ").add(name);
    match running.role {
        Role::System => {}
        Role::Proc => {}
        Role::Body => _ = line.add(".body"),
        Role::Final => _ = line.add(".final"),
    }
    let values = running.indices.values(running.name);
    for (n, &value) in values.iter().enumerate() {
        line.add(if n == 0 { "(" } else { "," });
        line.add(if value < 0 { "-" } else { "" });
        line.add_number(u64::from(value.unsigned_abs()));
    }
    line.add(if values.is_empty() { "" } else { ")" });
    if let Some(function) = running.function {
        // SAFETY: as above.
        line.add(", in ").add(unsafe { name_of(function.name) });
    }
    line.add("\n");
}

/// Reports a stack overflow, on the signal's stack, without memory, and ends the process.
pub fn overflow<S: Flavour>(overflow: &Overflow) {
    let process: *const Process<S> = overflow.local.cast();
    // SAFETY: the signal interrupted the process that uses the stack.
    let function = unsafe {
        function_at(overflow.instruction).or_else(|| calling_function(overflow.in_use.clone()))
    };
    let running = Running::of(process, function);
    // An external function has no place of its own; its caller recorded one.
    let at = match overflow.is_roomy {
        true => running.recorded,
        false => running.at(),
    };
    files::flush_standard_output_if_free();
    let mut line = Line::default();
    // SAFETY: places are static locations of the generated program.
    unsafe { line.add_abort(at) };
    line.add("stack overflow of ")
        .add_number(overflow.stack_bytes as u64)
        .add(" bytes");
    if overflow.is_roomy {
        line.add(" in an external function\n");
    } else if options::get().is_plain {
        line.add("\n");
    } else {
        line.add("; recurse less deeply, or give processes larger stacks (stack=BYTES)\n");
    }
    if !options::get().is_plain {
        add_process(&mut line, &running);
    }
    line.write();
    // SAFETY: ends the process. Other files are not written out, because their state is unknown.
    unsafe { libc::_exit(1 as c_int) };
}

/// Whether an instruction is part of a generated function.
pub fn is_generated(instruction: usize) -> bool {
    program().is_some_and(|it| (it.code as usize..it.code_end as usize).contains(&instruction))
}

/// Returns the generated function that an instruction belongs to: the last that begins before it.
pub fn function_at(instruction: usize) -> Option<&'static Function> {
    let program = program().filter(|_| is_generated(instruction))?;
    let count = usize::try_from(program.functions_count).unwrap_or(0);
    if program.functions.is_null() {
        return None;
    }
    // SAFETY: a static table of the generated program.
    let functions = unsafe { std::slice::from_raw_parts(program.functions, count) };
    let before = functions.iter().filter(|f| f.code as usize <= instruction);
    before.max_by_key(|f| f.code as usize)
}

/// Returns the generated function that called the running code: the function of the first return
/// address into generated code on the stack.
///
/// # Safety
/// The range is the part of a stack that is in use.
unsafe fn calling_function(in_use: Range<usize>) -> Option<&'static Function> {
    let first = in_use.start.next_multiple_of(size_of::<usize>());
    (first..in_use.end & !(size_of::<usize>() - 1))
        .step_by(size_of::<usize>())
        // SAFETY: aligned words of mapped memory.
        .map(|address| unsafe { (address as *const usize).read_volatile() })
        .find_map(function_at)
}
