//! The way into what may switch, and out of it, without a call and a return.
//!
//! A processor keeps a stack of the return addresses of the calls that it saw, and predicts each return by it. The switch itself is a return to the server,
//! predicted by the server's call; a call on the fiber's side that is open meanwhile would come in between, and its return would be predicted
//! wrong as well. So generated code jumps here, and the functions it jumps to leave by a jump: all calls in them have returned when they switch, as
//! everything that leads to the switch is inlined.

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    // rax: the function; rdi, rsi, rdx, rcx: its parameters; r10: where to go on. The caller's stack may end anywhere, and the caller has nothing in
    // other registers but rbp. The function's fifth parameter is what `leave` needs.
    ".p2align 4",
    ".globl sr_gate_stub",
    ".hidden sr_gate_stub",
    ".type sr_gate_stub, @function",
    "sr_gate_stub:",
    "    push rbp",
    "    push r10",
    "    mov r8, rsp",
    "    and rsp, -16",
    // In place of the return address: the stack of a function is aligned so.
    "    push 0",
    "    jmp rax",
    ".size sr_gate_stub, . - sr_gate_stub",
);

/// The way in from the head of a loop whose count is used up. It comes once in thousands of iterations, so a return that is predicted wrong is nothing to it; what
/// counts is that the loop finds all its registers as they were, or the C compiler would keep its variables in memory.
#[cfg(target_arch = "x86_64")]
macro_rules! loop_gate {
    ($name:literal, $function:literal) => {
        std::arch::global_asm!(
            ".p2align 4",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "    push rbp",
            "    mov rbp, rsp",
            "    push rax",
            "    push rcx",
            "    push rdx",
            "    push rsi",
            "    push rdi",
            "    push r8",
            "    push r9",
            "    push r10",
            "    push r11",
            // The other registers are the called function's to keep. 512 bytes hold those of floating point.
            "    sub rsp, 512",
            "    and rsp, -16",
            "    fxsave64 [rsp]",
            concat!("    call ", $function),
            "    fxrstor64 [rsp]",
            "    lea rsp, [rbp - 72]",
            "    pop r11",
            "    pop r10",
            "    pop r9",
            "    pop r8",
            "    pop rdi",
            "    pop rsi",
            "    pop rdx",
            "    pop rcx",
            "    pop rax",
            "    pop rbp",
            "    ret",
            concat!(".size ", $name, ", . - ", $name),
        );
    };
}

#[cfg(target_arch = "x86_64")]
loop_gate!("sr1_loop_gate", "sr1_loop_is_up");
#[cfg(target_arch = "x86_64")]
loop_gate!("srn_loop_gate", "srn_loop_is_up");

/// Goes back to generated code with a result.
///
/// # Safety
/// `saved` is the fifth parameter that the gate gave the calling function, which owns nothing any more.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn leave(saved: *const u64, result: usize) -> ! {
    // SAFETY: what the stub pushed.
    unsafe {
        std::arch::asm!(
            "mov rsp, {saved}",
            "pop r10",
            "pop rbp",
            "jmp r10",
            saved = in(reg) saved,
            in("rax") result,
            options(noreturn),
        )
    }
}
