//! Stack overflows: a fiber that runs into the guard below its stack is named, and the process
//! aborts. No stack is left to unwind on.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::ops::Range;
use std::sync::OnceLock;

use crate::servers::{Many, One, Servers};

/// The facts about an overflow, for a handler that knows more, such as the source line.
#[derive(Debug)]
pub struct Overflow<'a> {
    /// The fiber's name, if it has one.
    pub name: Option<&'a str>,
    /// Usable bytes of the stack: the fiber's, or that of
    /// [`Fibers::on_roomy_stack`](crate::Fibers::on_roomy_stack).
    pub stack_bytes: usize,
    /// Whether it is the stack of `on_roomy_stack`.
    pub is_roomy: bool,
    /// Address of the instruction.
    pub instruction: usize,
    /// Used part of the stack: from the stack pointer to the stack's end.
    pub in_use: Range<usize>,
    /// The fiber's own word: see [`Fibers::local`](crate::Fibers::local).
    pub local: *mut (),
}

/// A function that is called on an overflow, on another stack, in a signal handler. It may do only
/// what is allowed there. The process aborts afterwards.
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
        // SAFETY: the stack lives until `drop`, which puts the old one back. If the call fails, an
        // overflow ends the process without a message.
        unsafe { libc::sigaltstack(&new, &mut before) };
        Watch {
            before,
            _stack: stack,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: `before` is the alternate stack that the kernel reported, which its owner keeps.
        unsafe { libc::sigaltstack(&self.before, std::ptr::null_mut()) };
    }
}

fn install() {
    EARLIER.get_or_init(|| {
        // SAFETY: `sigaction` is plain data for which zero is valid. The handler has the signature
        // that SA_SIGINFO asks for.
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
    // SAFETY: the kernel passes a valid `info` with both fields for SIGSEGV.
    let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
    // SAFETY: `context` is the handler's third argument, and the handler has not returned.
    let here = unsafe { Here::of(context) };
    let address = match code {
        // The kernel found no room for the frame of another signal, and gives no address.
        SI_KERNEL => here.stack_pointer.saturating_sub(SIGNAL_FRAME_BYTES),
        _ => address,
    };
    report::<One>(address, &here);
    report::<Many>(address, &here);
    // The fault is no overflow of a fiber: the earlier handler gets it.
    let Some(earlier) = EARLIER.get() else { return };
    // SAFETY: the kernel reported the earlier action. A default one is put back, and the fault
    // comes again on the return.
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

/// `SI_KERNEL` of `asm-generic/siginfo.h`: the kernel's own signal.
const SI_KERNEL: c_int = 0x80;

/// About the bytes that the kernel puts on the stack for a signal, with all registers of large
/// vectors.
const SIGNAL_FRAME_BYTES: usize = 12 << 10;

/// Returns the address of the instruction that a signal interrupted.
///
/// # Safety
/// `context` is the third argument of the signal's handler, which has not returned.
pub unsafe fn interrupted_at(context: *mut c_void) -> usize {
    // SAFETY: the caller promises that `context` is the argument of a handler that has not
    // returned.
    unsafe { Here::of(context) }.instruction
}

/// An OS thread's state when a signal came.
struct Here {
    instruction: usize,
    stack_pointer: usize,
}

impl Here {
    /// Reads the state from a signal's context.
    ///
    /// # Safety
    ///
    /// As for [`interrupted_at`].
    unsafe fn of(context: *mut c_void) -> Here {
        // SAFETY: the caller promises that this is the kernel's context of the interrupted
        // instruction.
        let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
        #[cfg(target_arch = "x86_64")]
        return Here {
            instruction: registers.gregs[libc::REG_RIP as usize] as usize,
            stack_pointer: registers.gregs[libc::REG_RSP as usize] as usize,
        };
        #[cfg(target_arch = "aarch64")]
        return Here {
            instruction: registers.pc as usize,
            stack_pointer: registers.sp as usize,
        };
    }
}

/// Reports the overflow and aborts, if the address lies in the guard of the current stack.
fn report<S: Servers>(address: usize, here: &Here) {
    let server = S::server();
    if server.is_null() {
        return;
    }
    // SAFETY: the pointer is set for this OS thread while its server lives. The fiber that runs on
    // it is interrupted.
    let server = unsafe { &*server };
    let Some(fiber) = server.current.get() else {
        return;
    };
    // SAFETY: descriptors live as long as the run-time.
    let fiber = unsafe { fiber.as_ref() };
    let (start, end) = fiber.guard.get();
    let roomy = server.used_roomy_stack();
    let roomy = roomy.filter(|stack| stack.guard().contains(&address));
    let (stack_bytes, top) = match roomy {
        Some(stack) => (stack.bytes(), stack.top()),
        None if (start..end).contains(&address) => {
            (server.shared.stack_bytes, fiber.stack_top.get())
        }
        None => return,
    };
    // A function may have moved its stack pointer below the guard already.
    let bottom = top - stack_bytes;
    let overflow = Overflow {
        // SAFETY: only the interrupted fiber's starter sets the name, and it has.
        name: unsafe { fiber.name() },
        stack_bytes,
        is_roomy: roomy.is_some(),
        instruction: here.instruction,
        in_use: here.stack_pointer.clamp(bottom, top)..top,
        local: fiber.local.get(),
    };
    // The handler comes first: it may give a better report, and end the process.
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
    // SAFETY: the buffer holds the formatted bytes, and `write` takes no lock.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len() - left) };
    std::process::abort();
}
