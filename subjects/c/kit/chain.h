/* The dependent chain that the reference and the kit's own tests are made of. */
#ifndef KIT_CHAIN_H
#define KIT_CHAIN_H

#include <stdint.h>

/* One step; each needs the one before. The compiler is not told that x is unchanged between steps, since it may
 * otherwise multiply several steps into one. */
#define CHAIN_STEP(x)                                                                                                  \
    do {                                                                                                               \
        (x) = (x) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);                                     \
        __asm__ volatile("" : "+r"(x));                                                                                \
    } while (0)

#define CHAIN_4_STEPS(x) CHAIN_STEP(x); CHAIN_STEP(x); CHAIN_STEP(x); CHAIN_STEP(x)
#define CHAIN_16_STEPS(x) CHAIN_4_STEPS(x); CHAIN_4_STEPS(x); CHAIN_4_STEPS(x); CHAIN_4_STEPS(x)
#define CHAIN_20_STEPS(x) CHAIN_16_STEPS(x); CHAIN_4_STEPS(x)

#endif
