/* The subprograms that are called from another unit, and the objects that are passed. */
#include "calls.h"

uint64_t call_value;
int call_integers[100];
enum colour call_enumerations[100];

#define DEFINE_OBJECTS(bytes)                                                                                          \
    struct array_##bytes call_array_##bytes;                                                                           \
    struct record_##bytes call_record_##bytes;
SIZES(DEFINE_OBJECTS)

void call_inter_none(void)
{
    call_value = 1;
}

#define DEFINE_SCALAR(form, type, mode, count) SCALAR_HEAD(form, type, mode, count) SCALAR_BODY(form, type, mode, count)
#define DEFINE_COMPOSITE(form, type, mode, bytes)                                                                      \
    COMPOSITE_HEAD(form, type, mode, bytes) COMPOSITE_BODY(form, type, mode, bytes)
#define DEFINE_UNCONSTRAINED(form, mode) UNCONSTRAINED_HEAD(form, mode) UNCONSTRAINED_BODY(form, mode)

SCALAR_CALLS(DEFINE_SCALAR, inter)
COMPOSITE_CALLS(DEFINE_COMPOSITE, inter)
UNCONSTRAINED_CALLS(DEFINE_UNCONSTRAINED, inter)

uint64_t call_control(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        call_value = 1;
        KIT_KEEP(call_value);
        sum += call_value;
    }
    return sum;
}
