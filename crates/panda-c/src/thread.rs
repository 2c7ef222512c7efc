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

/// The body of a thread. Its return value is the thread's result.
pub type panda_body = Option<unsafe extern "C-unwind" fn(context: *mut c_void) -> *mut c_void>;

/// Threads of the operating system, for panda_run().
pub const PANDA_THREADS_SYSTEM: u32 = 0;

/// Fibers on one processor, for panda_run(). A switch costs nanoseconds, and a fiber runs until it
/// waits or yields. A fiber's stack has 256 KiB.
pub const PANDA_THREADS_FIBERS: u32 = 1;

/// A pointer that the program passes from thread to thread.
struct Pointer(*mut c_void);

// SAFETY: the header says that contexts and results may pass between threads.
unsafe impl Send for Pointer {}

impl Pointer {
    /// (A method, so that a closure captures all of `self`.)
    fn get(&self) -> *mut c_void {
        self.0
    }
}

/// The payload that unwinds a thread that ends early.
struct Exit(Pointer);

/// Runs a thread to its end or to its exit.
fn whole(
    body: panda_body,
    context: *mut c_void,
    argument: &'static str,
) -> Result<impl FnOnce() -> Pointer + Send + 'static, Failure> {
    let body = until_exit(body, context, argument)?;
    Ok(move || body().unwrap_or_else(|exit| exit.0))
}

/// Returns the result of a body, or the exit that ended it.
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

/// Runs a program: `main`, and the threads that it starts by panda_thread_create(). They are
/// threads of the system (PANDA_THREADS_SYSTEM), or fibers that share the caller's processor
/// (PANDA_THREADS_FIBERS). With fibers it returns when the last of them has ended. If the remaining
/// fibers wait for each other it does not return, because an upcall or another thread might still
/// wake them. The result of `main` goes to `result`, which may be NULL.
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

/// Runs a program on fibers that share this many processors. After each wait a fiber may continue
/// on another thread of the system. So it must not keep anything of a thread over a wait, such as
/// the address of a thread-local variable (errno is one) or a pthread lock.
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
        // SAFETY: the caller's promise; thread-local variables here are used only inside functions
        // of their own.
        keep(unsafe { thread::run_on(processors, main) }?, result);
        Ok(())
    })
}

/// Starts a thread: a fiber if the caller is one, else a thread of the system. `name` is for
/// debuggers and may be NULL. For `priority`, see panda_thread_set_priority(). The caller passes
/// the handle to panda_thread_join() or panda_thread_detach().
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

/// Waits until a thread has ended, writes its result to `result`, which may be NULL, and frees the
/// handle.
///
/// Errors: PANDA_IN_UPCALL, and the handle stays valid; PANDA_PANICKED; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_thread_join(
    thread: *mut panda_thread,
    result: Option<&mut MaybeUninit<*mut c_void>>,
) -> panda_status {
    entry("panda_thread_join", || {
        must_not_wait()?;
        let thread = given((!thread.is_null()).then_some(thread), "thread")?;
        // SAFETY: the handle comes from the library and is freed once.
        let ended = unsafe { Box::from_raw(thread) }.handle.join();
        let ended = ended.map_err(|panic| Failure::Panicked(said(&*panic).into()));
        keep(ended?, result);
        Ok(())
    })
}

/// Frees the handle, and the thread continues by itself. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_detach(thread: Option<Box<panda_thread>>) {
    freed("panda_thread_detach", thread);
}

/// Returns whether a thread has ended, so that joining it does not wait.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_is_over(thread: Option<&panda_thread>) -> bool {
    value("panda_thread_is_over", false, || {
        Ok(given(thread, "thread")?.handle.is_over())
    })
}

/// Ends the calling thread early, with a result. It may be called only in bodies for panda_run() or
/// panda_thread_create(), and in functions that they call. In an upcall, or another function that
/// the library got, it ends the process. It unwinds the stack as pthread_exit() does: destructors
/// of C++ run.
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

/// Returns a 64-bit number for the calling thread, fiber or not. It does not change while the
/// thread lives. Among n threads, two have the same number with a probability of n² / 2⁶⁵.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_self() -> u64 {
    value("panda_thread_self", 0, || {
        let hashes = BuildHasherDefault::<DefaultHasher>::default();
        Ok(hashes.hash_one(thread::current()))
    })
}

/// Sets the caller's priority. Returns whether it took effect. 0 is the default, and greater values
/// run first. Among fibers of one processor it is exact. For threads of the system it is a hint:
/// the nice value of the opposite sign, within -20 and 19. To raise it takes a privilege.
#[unsafe(no_mangle)]
pub extern "C" fn panda_thread_set_priority(priority: i32) -> bool {
    value("panda_thread_set_priority", false, || {
        Ok(thread::set_priority(priority))
    })
}

/// Runs a call that blocks in the system, such as a read, so that other fibers of the processor
/// continue meanwhile. Among threads of the system it is simply called. Its return value goes to
/// `result`, which may be NULL. For a fiber it runs on a thread of the system. panda_thread_exit()
/// in it still ends the caller.
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
    // Out here, where no frame of the interface catches it.
    if let Some(Exit(result)) = exit {
        panda_thread_exit(result.get());
    }
    status
}
