//! The way into a frame: what was learnt about branches is forgotten, and entering costs the same each time.
//!
//! *Unlearning.* A loop of a few nanoseconds has several stable speeds on today's processors, by what the branch predictor learnt when it
//! first saw the loop. Two thousand conditional jumps that cannot be predicted make every frame settle alike.
//!
//! *Entering.* In the order control, test, test, control the second test slice alone follows its own like, and a processor predicts
//! an indirect call from the last one. So the call is made in a way that is always predicted wrongly, by the sequence that protects kernels
//! from speculation:
//!
//! ```text
//! enter      rdi = the frame, rsi = what it works on, rdx = iterations
//!   call 3f  pushes the address of 2:, which the processor will predict as the target of the `ret`
//! 2: pause   where it then speculates, in place, until it knows better
//! 3: mov     puts the frame's address in its stead
//!   ret      goes to the frame, with the caller's return address on top of the stack
//! ```

/// A frame as it is entered: what it works on, and iterations.
pub(crate) type Entry = extern "C" fn(*mut (), u64);

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".text",
    ".p2align 6",
    ".globl antiphon_kit_enter",
    ".type antiphon_kit_enter, @function",
    "antiphon_kit_enter:",
    "    mov rax, rdi",
    "    mov rdi, rsi",
    "    mov rsi, rdx",
    "    call 3f",
    "2:  pause",
    "    lfence",
    "    jmp 2b",
    "3:  mov [rsp], rax",
    "    ret",
    ".size antiphon_kit_enter, . - antiphon_kit_enter",
);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn antiphon_kit_enter(frame: Entry, context: *mut (), iterations: u64);
}

/// Calls the frame.
#[inline(always)]
pub(crate) fn enter(frame: Entry, context: *mut (), iterations: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `antiphon_kit_enter` jumps to `frame` with the two other arguments, the stack as a call leaves it.
    unsafe {
        antiphon_kit_enter(frame, context, iterations);
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(frame)(context, iterations);
}

/// Makes branch prediction forget what it learnt in the slices before; untimed, some microseconds.
pub(crate) fn unlearn(state: &mut u64) {
    // A generator of pseudo-random bits (xorshift, 13 7 17) ...
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    // ... and 2000 conditional jumps, each at an address of its own and each taken or not by one of them.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: works on one register, and jumps within itself.
    unsafe {
        std::arch::asm!(
            ".rept 2000",
            "ror {bits}",
            "jc 2f",
            "nop",
            "2:",
            ".endr",
            bits = inout(reg) *state => _,
            options(nomem, nostack),
        );
    }
}
