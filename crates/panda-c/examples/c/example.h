/* What the examples have in common: an operation that fails ends the program, in the library's words. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <panda.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(panda_status status)
{
    if (status != PANDA_OK) {
        fprintf(stderr, "%s\n", panda_last_error());
        exit(EXIT_FAILURE);
    }
}

/* The program's argument, or what is usual. */
static inline uint64_t argument(int count, char **arguments, uint64_t usual)
{
    return count > 1 ? strtoull(arguments[1], NULL, 10) : usual;
}

#endif
