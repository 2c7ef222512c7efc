//! The way into and out of functions that may switch, without a call and a return.
//!
//! A processor keeps a stack of the return addresses of calls, and predicts each return by it. The
//! switch itself is a return to the server, predicted by the server's call. If a call on the
//! fiber's side were open at the switch, both returns would be predicted wrong. So generated code
//! jumps here, and the called functions also leave by a jump. Everything that leads to the switch
//! is inlined, so all calls have returned by then.

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    // rax: the function; rdi, rsi, rdx, rcx: its parameters; r10: the address to continue at. The
    // caller's stack may end anywhere, and only rbp holds a value of the caller. The function's
    // fifth parameter is what `leave` needs.
    ".p2align 4",
    ".globl sr_gate_stub",
    ".hidden sr_gate_stub",
    ".type sr_gate_stub, @function",
    "sr_gate_stub:",
    "    push rbp",
    "    push r10",
    "    mov r8, rsp",
    "    and rsp, -16",
    // A placeholder for the return address keeps the stack aligned as at a function's entry.
    "    push 0",
    "    jmp rax",
    ".size sr_gate_stub, . - sr_gate_stub",
);

/// The way in from the head of a loop whose count is used up. That happens once in thousands of
/// iterations, so one wrongly predicted return does not matter. But the loop must find all its
/// registers unchanged, or the C compiler would keep its variables in memory.
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
            // The called function preserves the other registers. 512 bytes hold those of floating
            // point.
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

/// Returns to generated code with a result.
///
/// # Safety
/// `saved` is the fifth parameter that the gate gave to the calling function. That function owns
/// nothing any more.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn leave(saved: *const u64, result: usize) -> ! {
    // SAFETY: `saved` is what the stub pushed.
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
