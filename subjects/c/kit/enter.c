/* The way into a frame, equally dear for each.
 *
 * In the order control, test, test, control the second test slice is the only one that follows its own like. A processor
 * predicts an indirect call from the last one, so it would enter half of the test slices 10 ns faster than any control
 * slice: enough to make two copies of one loop differ by 0.0003 in slices of 27 us. Hence a call that is predicted wrongly
 * every time, by the same sequence that protects kernels from speculation ("retpoline"):
 *
 *     enter_frame      rax = frame, rdi = iterations
 *       call 1f        pushes the address of 0:, which the processor will predict as the target of the `ret`
 *     0: pause ...     where it then speculates, in place, until it knows better
 *     1: mov %rax,..   puts the frame's address in its stead
 *       ret            goes to the frame, with the caller's return address on top of the stack
 *
 * It costs some 15 ns a slice, the same for control and test. Elsewhere the call is an ordinary one. Unlearning branches
 * (unlearn.c) does not replace it: that leaves differences of 0.0001 in such slices. */
#include "internal.h"

#if defined(__x86_64__)

__asm__(".text\n"
        ".p2align 6\n"
        ".globl enter_frame\n"
        ".type enter_frame, @function\n"
        "enter_frame:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    call 1f\n"
        "0:  pause\n"
        "    lfence\n"
        "    jmp 0b\n"
        "1:  mov %rax, (%rsp)\n"
        "    ret\n"
        ".size enter_frame, . - enter_frame\n");

#else

uint64_t enter_frame(kit_frame *frame, uint64_t iterations)
{
    return frame(iterations);
}

#endif
