//! A fiber that runs into the guard below its stack is named, and the process aborts: there is no stack left to unwind on.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::OnceLock;

use crate::servers::{Many, One, Servers};

/// What is known of an overflow, for a handler that knows more, such as the source line.
#[derive(Debug)]
pub struct Overflow<'a> {
    /// The fiber's name, if it has one.
    pub name: Option<&'a str>,
    /// Usable bytes of its stack.
    pub stack_bytes: usize,
    /// The address of the instruction.
    pub instruction: usize,
    /// What the fiber keeps as its own: see [`Fibers::local`](crate::Fibers::local).
    pub local: *mut (),
}

/// Called on an overflow, on another stack, in a signal handler: only what is allowed there may be done. The process aborts afterwards.
pub type OnOverflow = fn(&Overflow);

const SIGNAL_STACK_BYTES: usize = 64 << 10;

/// The alternate stack of a server's OS thread, on which the handler runs.
pub(crate) struct Watch {
    before: libc::stack_t,
    _stack: Box<[u8]>,
}

static EARLIER: OnceLock<libc::sigaction> = OnceLock::new();

impl Watch {
    /// Watches the calling OS thread until dropped.
    pub fn start() -> Watch {
        install();
        let mut stack = vec![0; SIGNAL_STACK_BYTES].into_boxed_slice();
        let new = libc::stack_t {
            ss_sp: stack.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: stack.len(),
        };
        let mut before = libc::stack_t {
            ss_sp: std::ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: 0,
        };
        // SAFETY: the stack lives until `drop`, which puts the old one back. If this fails, an overflow ends the process without a message.
        unsafe { libc::sigaltstack(&new, &mut before) };
        Watch {
            before,
            _stack: stack,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: what was there before.
        unsafe { libc::sigaltstack(&self.before, std::ptr::null_mut()) };
    }
}

fn install() {
    EARLIER.get_or_init(|| {
        // SAFETY: `sigaction` is plain data for which zero is valid; the handler has the signature that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let mut earlier: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGSEGV, &action, &mut earlier);
            earlier
        }
    });
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives both for SIGSEGV.
    let address = unsafe { (*info).si_addr() } as usize;
    report::<One>(address, context);
    report::<Many>(address, context);
    // Not ours: whoever was there before has it.
    let Some(earlier) = EARLIER.get() else { return };
    // SAFETY: the earlier action as the kernel gave it. A default one is put back, and the fault comes again when we return.
    unsafe {
        if earlier.sa_sigaction == libc::SIG_DFL || earlier.sa_sigaction == libc::SIG_IGN {
            libc::signal(signal, libc::SIG_DFL);
        } else {
            let earlier: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(earlier.sa_sigaction);
            earlier(signal, info, context);
        }
    }
}

/// If the address lies in the guard of the fiber that runs here, says so and aborts.
fn report<S: Servers>(address: usize, context: *mut c_void) {
    let server = S::server();
    if server.is_null() {
        return;
    }
    // SAFETY: set for this OS thread as long as its server lives; the fiber that runs on it is interrupted.
    let server = unsafe { &*server };
    let Some(fiber) = server.current.get() else {
        return;
    };
    let fiber = unsafe { fiber.as_ref() };
    let (start, end) = fiber.guard.get();
    if !(start..end).contains(&address) {
        return;
    }
    let overflow = Overflow {
        // SAFETY: only the interrupted fiber's starter named it.
        name: unsafe { fiber.name() },
        stack_bytes: server.shared.stack_bytes,
        instruction: instruction(context),
        local: fiber.local.get(),
    };
    // The handler comes first: it may say it better, and end the process.
    if let Some(handler) = server.shared.on_overflow {
        handler(&overflow);
    }
    let name = overflow.name.unwrap_or("without a name");
    let mut text = [0_u8; 256];
    let mut rest = &mut text[..];
    let _ = writeln!(
        rest,
        "fiber {name} overflowed its stack of {} bytes; give fibers larger stacks, or recurse less deeply",
        overflow.stack_bytes
    );
    let left = rest.len();
    // SAFETY: writes what was formatted, without a lock.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len() - left) };
    std::process::abort();
}

fn instruction(context: *mut c_void) -> usize {
    // SAFETY: the kernel's context of the interrupted instruction.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    #[cfg(target_arch = "x86_64")]
    return context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    return context.uc_mcontext.pc as usize;
}
