//! Threads of either kind.

use std::ffi::{c_char, c_void};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use antiphon_panda::session::must_not_wait;
use antiphon_panda::thread::{self, Builder, Handle, Threads};

use crate::given::{given, text};
use crate::status::{Failure, entry, freed, panda_status, said, value};

/// A thread that may be waited for.
pub struct panda_thread {
    handle: Handle<Pointer>,
}

/// What a thread does; what it returns is the thread's result.
pub type panda_body = Option<unsafe extern "C-unwind" fn(context: *mut c_void) -> *mut c_void>;

/// Threads of the operating system, for panda_run().
pub const PANDA_THREADS_SYSTEM: u32 = 0;

/// Fibers on one processor, for panda_run(): a switch costs nanoseconds, and one runs until it waits or yields. A fiber's stack has 256 KiB.
pub const PANDA_THREADS_FIBERS: u32 = 1;

/// What the program hands from thread to thread.
struct Pointer(*mut c_void);

// SAFETY: the header says that contexts and results are for other threads, too.
unsafe impl Send for Pointer {}

impl Pointer {
    /// (A method, so that a closure that uses it keeps all of this.)
    fn get(&self) -> *mut c_void {
        self.0
    }
}

/// What unwinds a thread that ends early.
struct Exit(Pointer);

/// What a thread does to its end or to its exit.
fn whole(
    body: panda_body,
    context: *mut c_void,
    argument: &'static str,
) -> Result<impl FnOnce() -> Pointer + Send + 'static, Failure> {
    let body = until_exit(body, context, argument)?;
    Ok(move || body().unwrap_or_else(|exit| exit.0))
}

/// What a body returns, or the exit that ended it.
fn until_exit(
    body: panda_body,
    context: *mut c_void,
    argument: &'static str,
) -> Result<impl FnOnce() -> Result<Pointer, Exit> + Send + 'static, Failure> {
    let (body, context) = (given(body, argument)?, Pointer(context));
    Ok(move || {
        // SAFETY: the program gave both for this.
        let body = || Pointer(unsafe { body(context.get()) });
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(result) => Ok(result),
            Err(panic) => match panic.downcast::<Exit>() {
                Ok(exit) => Err(*exit),
                Err(panic) => resume_unwind(panic),
            },
        }
    })
}

fn keep(result: Pointer, place: Option<&mut MaybeUninit<*mut c_void>>) {
    place.map(|place| place.write(result.get()));
}

/// Runs a program on threads of a kind: `main`, and those that it starts by panda_thread_create(), are threads of the system (PANDA_THREADS_SYSTEM) or fibers that share the caller's processor
/// (PANDA_THREADS_FIBERS). With fibers it returns when the last of them has ended, so not at all where those that are left wait for each other: an upcall or another thread might still wake
/// them. What `main` returns goes to `result`, which may be NULL.
///
/// Errors: PANDA_NO_THREAD; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_run(
    threads: u32,
    main: panda_body,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut c_void>>,
) -> panda_status {
    entry("panda_run", || {
        let threads = match threads {
            PANDA_THREADS_SYSTEM => Threads::System,
            PANDA_THREADS_FIBERS => Threads::Fibers,
            other => {
                let why = format!("is {other}, which is no kind of threads");
                return Err(Failure::argument("threads", why));
            }
        };
        keep(thread::run(threads, whole(main, context, "main")?)?, result);
        Ok(())
    })
}

/// Runs a program on fibers that share so many processors. A fiber may go on on another thread of the system after each wait: it keeps nothing over a wait that belongs to one, such as the address of a
/// thread-local variable (errno is one) or a lock of pthread's.
///
/// Errors: as panda_run().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_run_on(
    processors: u32,
    main: panda_body,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut c_void>>,
) -> panda_status {
    entry("panda_run_on", || {
        let is_none = || Failure::argument("processors", "is 0");
        let processors = NonZeroUsize::new(processors as usize).ok_or_else(is_none)?;
        let main = whole(main, context, "main")?;
        // SAFETY: the caller's promise; what is thread-local here is reached in functions of its own.
        keep(unsafe { thread::run_on(processors, main) }?, result);
        Ok(())
    })
}

/// Starts a thread: a fiber if the caller is one, else a thread of the system. `name` is for debuggers and may be NULL; of `priority`, see panda_thread_set_priority(). The handle is the caller's,
/// to be given back by panda_thread_join() or panda_thread_detach().
///
/// Errors: PANDA_NO_THREAD; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_thread_create(
    name: *const c_char,
    priority: i32,
    body: panda_body,
    context: *mut c_void,
    thread: Option<&mut MaybeUninit<*mut panda_thread>>,
) -> panda_status {
    entry("panda_thread_create", || {
        let place = given(thread, "thread")?;
        let body = whole(body, context, "body")?;
        let mut builder = Builder::new();
        if !name.is_null() {
            // SAFETY: the caller's promise.
            builder = builder.name(unsafe { text(name, "name") }?);
        }
        if priority != 0 {
            builder = builder.priority(priority);
        }
        let handle = builder.spawn(body)?;
        place.write(Box::into_raw(Box::new(panda_thread { handle })));
        Ok(())
    })
}

/// Waits until a thread has ended, takes its result to `result`, which may be NULL, and gives the handle back.
///
/// Errors: PANDA_IN_UPCALL, and the handle is as it was; PANDA_PANICKED; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_thread_join(
    thread: *mut panda_thread,
    result: Option<&mut MaybeUninit<*mut c_void>>,
) -> panda_status {
    entry("panda_thread_join", || {
        must_not_wait()?;
        let thread = given((!thread.is_null()).then_some(thread), "thread")?;
        // SAFETY: a handle that the library gave and that is given back once.
        let ended = unsafe { Box::from_raw(thread) }.handle.join();
        let ended = ended.map_err(|panic| Failure::Panicked(said(&*panic).into()));
        keep(ended?, result);
        Ok(())
    })
}

/// Gives the handle back and lets the thread go on by itself. NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_detach(thread: Option<Box<panda_thread>>) {
    freed("panda_thread_detach", thread);
}

/// Whether a thread has ended, so that to join it does not wait.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_is_over(thread: Option<&panda_thread>) -> bool {
    value("panda_thread_is_over", false, || {
        Ok(given(thread, "thread")?.handle.is_over())
    })
}

/// Ends the calling thread early, with a result. Only in what panda_run() or panda_thread_create() was given, and in functions that it calls; elsewhere, as in an upcall or another function that the library was
/// given, it ends the process. It unwinds the stack as pthread_exit() does: destructors of C++ run.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn panda_thread_exit(result: *mut c_void) -> ! {
    resume_unwind(Box::new(Exit(Pointer(result))))
}

/// Lets another thread that is ready run.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_yield() {
    value("panda_thread_yield", (), || {
        thread::yield_now();
        Ok(())
    });
}

/// Blocks the calling thread for a time in nanoseconds.
///
/// Errors: PANDA_IN_UPCALL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_sleep(time_ns: u64) -> panda_status {
    entry("panda_thread_sleep", || {
        must_not_wait()?;
        thread::sleep(Duration::from_nanos(time_ns));
        Ok(())
    })
}

/// A number of 64 bits for the calling thread, fiber or not: its own for as long as it lives, and not found by a stranger's bad luck (threads have the same with a probability of n² / 2⁶⁵).
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_self() -> u64 {
    value("panda_thread_self", 0, || {
        let hashes = BuildHasherDefault::<DefaultHasher>::default();
        Ok(hashes.hash_one(thread::current()))
    })
}

/// Sets the caller's priority; whether it took hold. 0 is usual, greater runs first. Among fibers of one processor it is exact; of threads of the system it is a hint, the nice value of the opposite
/// sign within -20 and 19, and to raise it takes a privilege.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_set_priority(priority: i32) -> bool {
    value("panda_thread_set_priority", false, || {
        Ok(thread::set_priority(priority))
    })
}

/// Runs a call that blocks in the system, such as a read, so that other fibers of the processor go on meanwhile; among threads of the system it is just called. What it returns goes to `result`, which
/// may be NULL. For a fiber it runs on a thread of the system's; panda_thread_exit() in it ends the caller all the same.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn panda_blocking(
    call: panda_body,
    context: *mut c_void,
    result: Option<&mut MaybeUninit<*mut c_void>>,
) -> panda_status {
    let mut exit = None;
    let status = entry("panda_blocking", || {
        match thread::blocking(until_exit(call, context, "call")?) {
            Ok(returned) => keep(returned, result),
            Err(exited) => exit = Some(exited),
        }
        Ok(())
    });
    // Out here, where nothing of the interface's catches it.
    if let Some(Exit(result)) = exit {
        panda_thread_exit(result.get());
    }
    status
}
