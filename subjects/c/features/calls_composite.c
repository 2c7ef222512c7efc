/* Calls with arrays and records of growing size, by value or by pointer, and with unconstrained arrays. */
#include "calls.h"
#include "features.h"

#define DEFINE_COMPOSITE(form, type, mode, bytes)                                                                      \
    KIT_APART static COMPOSITE_HEAD(form, type, mode, bytes) COMPOSITE_BODY(form, type, mode, bytes)
#define DEFINE_UNCONSTRAINED(form, mode) KIT_APART static UNCONSTRAINED_HEAD(form, mode) UNCONSTRAINED_BODY(form, mode)

COMPOSITE_CALLS(DEFINE_COMPOSITE, intra)
UNCONSTRAINED_CALLS(DEFINE_UNCONSTRAINED, intra)

#define GIVEN_in(object) object
#define GIVEN_out(object) &object
#define GIVEN_in_out(object) &object

#define FRAME(name, first, call)                                                                                       \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        first = 1;                                                                                                     \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                   \
            call;                                                                                                      \
            KIT_KEEP(call_value);                                                                                      \
            sum += call_value;                                                                                         \
        }                                                                                                              \
        return sum + (uint64_t)first;                                                                                  \
    }
#define COMPOSITE_FRAME(form, type, mode, bytes)                                                                       \
    FRAME(form##_##type##_##mode##_##bytes, FIRST_##type(call_##type##_##bytes),                                       \
          COMPOSITE_NAME(form, type, mode, bytes)(GIVEN_##mode(call_##type##_##bytes)))
#define UNCONSTRAINED_FRAME(form, mode, bytes)                                                                         \
    FRAME(form##_unconstrained_##mode##_##bytes, call_array_##bytes.parts[0],                                          \
          call_##form##_unconstrained_##mode(call_array_##bytes.parts, (bytes) / sizeof(int)))

#define UNCONSTRAINED_SIZES(X, form)                                                                                   \
    UNCONSTRAINED_MODES(X, form, 8) UNCONSTRAINED_MODES(X, form, 64)                                                   \
    UNCONSTRAINED_MODES(X, form, 512) UNCONSTRAINED_MODES(X, form, 4096)
#define UNCONSTRAINED_MODES(X, form, bytes) X(form, in, bytes) X(form, out, bytes) X(form, in_out, bytes)

COMPOSITE_CALLS(COMPOSITE_FRAME, inter)
COMPOSITE_CALLS(COMPOSITE_FRAME, intra)
UNCONSTRAINED_SIZES(UNCONSTRAINED_FRAME, inter)
UNCONSTRAINED_SIZES(UNCONSTRAINED_FRAME, intra)

#define ROW(form, type, mode, bytes)                                                                                   \
    {.name = "call." #form "." #type "." #mode "." #bytes,                                                             \
     .control = call_control,                                                                                          \
     .test = frame_##form##_##type##_##mode##_##bytes},
#define UNCONSTRAINED_ROW(form, mode, bytes) ROW(form, unconstrained, mode, bytes)

const struct kit_test call_composite_tests[] = {
    COMPOSITE_CALLS(ROW, inter)
    COMPOSITE_CALLS(ROW, intra)
    UNCONSTRAINED_SIZES(UNCONSTRAINED_ROW, inter)
    UNCONSTRAINED_SIZES(UNCONSTRAINED_ROW, intra)
    {.name = NULL},
};
