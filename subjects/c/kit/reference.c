/* The operation of known cost that every subject has. Built with -O2 in every variant. */
#include "chain.h"
#include "internal.h"

uint64_t reference_frame(uint64_t iterations)
{
    uint64_t x = 1;
    for (uint64_t i = 0; i < iterations; i++) {
        CHAIN_16_STEPS(x);
    }
    return x;
}
