/* What the processor has learnt about branches, and how to make it forget.
 *
 * A frame of a few nanoseconds is a loop of taken branches, and on today's processors it has several stable speeds: one
 * with two calls runs at 5 or at 7 cycles an iteration, for thousands of slices on end, by what the predictor learnt
 * when the loop was first seen. Control and test that settle differently give costs of -0.7 or +0.7 ns where there are
 * none. After some thousand branches that cannot be predicted every frame settles alike. */
#include "internal.h"

#if defined(__x86_64__)

void unlearn_branches(void)
{
    static uint64_t state = 88172645463325252;

    /* A generator of pseudo-random bits (xorshift, 13 7 17) ... */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;

    /* ... and 2000 conditional jumps, each at an address of its own and each taken or not by one of them. */
    uint64_t bits = state;
    __asm__ volatile(".rept 2000\n"
                     "\trorq $1, %0\n"
                     "\tjc 1f\n"
                     "\tnop\n"
                     "1:\n"
                     "\t.endr"
                     : "+r"(bits)
                     :
                     : "cc");
}

#else

/* There is no way known to the kit; frames of a few nanoseconds may settle at different speeds. */
void unlearn_branches(void)
{
}

#endif
