//! The one instruction that calls what may switch.
//!
//! A processor keeps a stack of the return addresses of the calls it saw, and predicts each return by it. When a call comes back on another fiber's stack the
//! prediction is wrong, unless all such calls return to the same address. They do: generated code jumps here, and goes on by a jump.

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    // rax: the function; rdi, rsi, rdx, rcx: its parameters; r10: where to go on. The caller's stack may end anywhere.
    ".p2align 4",
    ".globl sr_gate_stub",
    ".hidden sr_gate_stub",
    ".type sr_gate_stub, @function",
    "sr_gate_stub:",
    "    push rbp",
    "    mov rbp, rsp",
    "    push r10",
    "    and rsp, -16",
    "    call rax",
    "    mov r10, [rbp - 8]",
    "    leave",
    "    jmp r10",
    ".size sr_gate_stub, . - sr_gate_stub",
);
