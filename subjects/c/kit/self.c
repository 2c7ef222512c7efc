/* The kit's own tests, by which the method is tried: two copies of one loop, a loop that is 5 % dearer, and a
 * loop that blocks against itself. Functions and loops are aligned alike (see the Makefile), so that placement does not differ. */
#include "chain.h"
#include "handoff.h"
#include "internal.h"

#include <stddef.h>

#define CHAIN_FRAME(name, steps)                                                                                       \
    KIT_APART static uint64_t name(uint64_t iterations)                                                                \
    {                                                                                                                  \
        uint64_t x = 1;                                                                                                \
        for (uint64_t i = 0; i < iterations; i++) {                                                                    \
            steps(x);                                                                                                  \
        }                                                                                                              \
        return x;                                                                                                      \
    }

#define CHAIN_21_STEPS(x) CHAIN_20_STEPS(x); CHAIN_STEP(x)

CHAIN_FRAME(twenty, CHAIN_20_STEPS)
CHAIN_FRAME(twenty_again, CHAIN_20_STEPS)
CHAIN_FRAME(twenty_one, CHAIN_21_STEPS)

static uint64_t handoffs(uint64_t iterations)
{
    uint64_t sum = 0;
    handoff_begin();
    for (uint64_t i = 0; i < iterations; i++)
        sum += handoff_and_back();
    return sum;
}

const struct kit_test self_tests[] = {
    {.name = "self.same", .control = twenty, .test = twenty_again, .work = "self.same"},
    {.name = "self.dearer", .control = twenty, .test = twenty_one, .work = "self.dearer"},
    {.name = "self.handoff", .control = handoffs, .test = handoffs, .threads = 2, .switches = "2",
     .prepare = handoff_prepare, .finish = handoff_finish},
    {.name = NULL},
};
