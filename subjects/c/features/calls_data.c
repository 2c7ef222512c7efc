/* The objects that are passed, and what the subprograms keep. */
#include "calls.h"

int call_integers[100], kept_integers[100];
enum colour call_enumerations[100], kept_enumerations[100];

#define DEFINE_OBJECTS(bytes)                                                                                          \
    struct array_##bytes call_array_##bytes;                                                                           \
    struct record_##bytes call_record_##bytes;                                                                         \
    int call_unconstrained_##bytes[INTEGERS(bytes)];
SIZES(DEFINE_OBJECTS)

void call_restore(void)
{
    for (int i = 0; i < 100; i++) {
        call_integers[i] = i + 1;
        kept_integers[i] = i + 1001;
        call_enumerations[i] = RED;
        kept_enumerations[i] = GREEN;
    }
#define RESTORE_FIRST(bytes) call_array_##bytes.parts[0] = call_record_##bytes.first = call_unconstrained_##bytes[0] = 1;
    SIZES(RESTORE_FIRST)
}

void call_prepare(uint64_t argument)
{
    (void)argument;
    call_restore();
}

uint64_t call_digest(uint64_t iterations)
{
    uint64_t firsts = 0;
#define ADD_FIRSTS(bytes)                                                                                              \
    firsts += (uint64_t)(call_array_##bytes.parts[0] + call_record_##bytes.first + call_unconstrained_##bytes[0]);
    SIZES(ADD_FIRSTS)
    return iterations + 3 * (uint64_t)call_integers[0] + 5 * (uint64_t)kept_integers[0] +
           7 * (uint64_t)call_integers[99] + 11 * (uint64_t)kept_integers[99] +
           13 * (uint64_t)call_enumerations[0] + 17 * (uint64_t)kept_enumerations[0] + 19 * firsts;
}
