/* What the allocation tests share. Whatever takes storage is a subprogram of its own, as in the Ada subject; the control
 * calls one that takes none. */
#ifndef ALLOCATION_H
#define ALLOCATION_H

#include "kit.h"

#include <stddef.h>

/* The length of every dimension of the arrays whose bounds are variables: 1 or 10, set before a batch. A variable of another
 * unit to most, which the hidden increment might change; so it is read each time. */
extern size_t array_bound;
kit_prepare_hook bound_by_1, bound_by_10;

#define ALLOCATION_FRAME(name, statement)                                                                              \
    static uint64_t name(uint64_t iterations)                                                                          \
    {                                                                                                                  \
        uint64_t i = 0;                                                                                                \
        while (i < iterations) {                                                                                       \
            statement;                                                                                                 \
            i = kit_increment(i);                                                                                      \
        }                                                                                                              \
        return i;                                                                                                      \
    }

#endif
