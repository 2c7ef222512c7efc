/* Common parts of the examples: an operation that fails ends the program with the library's error. */
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

/* The program's argument, or the default. */
static inline uint64_t argument(int count, char **arguments, uint64_t usual)
{
    return count > 1 ? strtoull(arguments[1], NULL, 10) : usual;
}

#endif
