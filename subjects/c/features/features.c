#include "features.h"

#include <stddef.h>

const struct kit_test *const kit_tables[] = {
    call_scalar_tests, call_composite_tests, allocation_tests, new_tests,     exception_tests,
    task_tests,        handoff_tests,        caller_tests,     protected_tests, contended_tests,
    clock_tests,       time_tests,           delay_tests,      storage_tests, interrupt_tests,
    absent_tests,      NULL,
};

uint64_t empty_loop(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += i;
    return sum;
}
