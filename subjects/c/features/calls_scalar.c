/* Calls without parameters and with 1, 10 and 100 scalars in each mode. */
#include "calls.h"
#include "features.h"

KIT_APART static void call_intra_none(void)
{
}

static inline void call_inline_none(void)
{
}

#define DEFINE_INTRA(form, type, mode, count)                                                                          \
    KIT_APART static SCALAR_HEAD(form, type, mode, count) SCALAR_BODY(form, type, mode, count)
#define DEFINE_INLINE(form, type, mode, count)                                                                         \
    static inline SCALAR_HEAD(form, type, mode, count) SCALAR_BODY(form, type, mode, count)

SCALAR_CALLS(DEFINE_INTRA, intra)
SCALAR_CALLS(DEFINE_INLINE, inline)

#define FRAME_NAME(form, type, mode, count) frame_##form##_##type##_##mode##_##count
#define FRAME(form, type, mode, count)                                                                                 \
    static CALL_FRAME(FRAME_NAME(form, type, mode, count), SCALAR_CALL(form, type, mode, count))

static CALL_FRAME(frame_inter_none, call_inter_none())
static CALL_FRAME(frame_intra_none, call_intra_none())
static CALL_FRAME(frame_inline_none, call_inline_none())
SCALAR_CALLS(FRAME, inter)
SCALAR_CALLS(FRAME, intra)
SCALAR_CALLS(FRAME, inline)

#define ROW(form, type, mode, count)                                                                                   \
    CALL_ROW(#form "." #type "." #mode "." #count, CONTROL_NAME(form, type, mode, count), FRAME_NAME(form, type, mode, count))

const struct kit_test call_scalar_tests[] = {
    CALL_ROW("inter.none", control_none, frame_inter_none)
    CALL_ROW("intra.none", control_none, frame_intra_none)
    CALL_ROW("inline.none", control_none, frame_inline_none)
    SCALAR_CALLS(ROW, inter)
    SCALAR_CALLS(ROW, intra)
    SCALAR_CALLS(ROW, inline)
    {.name = NULL},
};
