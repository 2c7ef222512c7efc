/* Calls without parameters and with 1, 10 and 100 scalars in each mode. */
#include "calls.h"
#include "features.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

KIT_APART static void call_intra_none(void)
{
    call_value = 1;
}

ALWAYS_INLINE void call_inline_none(void)
{
    call_value = 1;
}

#define DEFINE_INTRA(form, type, mode, count)                                                                          \
    KIT_APART static SCALAR_HEAD(form, type, mode, count) SCALAR_BODY(form, type, mode, count)
#define DEFINE_INLINE(form, type, mode, count)                                                                         \
    ALWAYS_INLINE SCALAR_HEAD(form, type, mode, count) SCALAR_BODY(form, type, mode, count)

SCALAR_CALLS(DEFINE_INTRA, intra)
SCALAR_CALLS(DEFINE_INLINE, inline)

#define FRAME(name, call)                                                                                              \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        call_integers[0] = 1;                                                                                          \
        call_enumerations[0] = GREEN;                                                                                  \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                   \
            call;                                                                                                      \
            KIT_KEEP(call_value);                                                                                      \
            sum += call_value;                                                                                         \
        }                                                                                                              \
        return sum + (uint64_t)call_integers[0] + (uint64_t)call_enumerations[0];                                      \
    }
#define SCALAR_FRAME(form, type, mode, count)                                                                          \
    FRAME(form##_##type##_##mode##_##count,                                                                            \
          SCALAR_NAME(form, type, mode, count)(EACH_##count(ACTUAL_##type##_##mode, COMMA)))

FRAME(inter_none, call_inter_none())
FRAME(intra_none, call_intra_none())
FRAME(inline_none, call_inline_none())
SCALAR_CALLS(SCALAR_FRAME, inter)
SCALAR_CALLS(SCALAR_FRAME, intra)
SCALAR_CALLS(SCALAR_FRAME, inline)

#define ROW(row, frame) {.name = row, .control = call_control, .test = frame_##frame},
#define SCALAR_ROW(form, type, mode, count)                                                                            \
    ROW("call." #form "." #type "." #mode "." #count, form##_##type##_##mode##_##count)

const struct kit_test call_scalar_tests[] = {
    ROW("call.inter.none", inter_none)
    ROW("call.intra.none", intra_none)
    ROW("call.inline.none", inline_none)
    SCALAR_CALLS(SCALAR_ROW, inter)
    SCALAR_CALLS(SCALAR_ROW, intra)
    SCALAR_CALLS(SCALAR_ROW, inline)
    {.name = NULL},
};
