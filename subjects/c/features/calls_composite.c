/* Calls with arrays and records of growing size, by value or by pointer, and with arrays of any length. */
#include "calls.h"
#include "features.h"

#define DEFINE_INTRA(form, type, mode, bytes)                                                                          \
    KIT_APART static COMPOSITE_HEAD(form, type, mode, bytes) COMPOSITE_BODY(form, type, mode, bytes)

#define DEFINE_INLINE(form, type, mode, bytes)                                                                         \
    static inline COMPOSITE_HEAD(form, type, mode, bytes) COMPOSITE_BODY(form, type, mode, bytes)

COMPOSITE_CALLS(DEFINE_INTRA, intra)
COMPOSITE_CALLS(DEFINE_INLINE, inline)

#define FRAME_NAME(form, type, mode, bytes) frame_##form##_##type##_##mode##_##bytes
#define FRAME(form, type, mode, bytes)                                                                                 \
    static CALL_FRAME(FRAME_NAME(form, type, mode, bytes), COMPOSITE_CALL(form, type, mode, bytes))

COMPOSITE_CALLS(FRAME, inter)
COMPOSITE_CALLS(FRAME, intra)
COMPOSITE_CALLS(FRAME, inline)

#define ROW(form, type, mode, bytes)                                                                                   \
    CALL_ROW(#form "." #type "." #mode "." #bytes, CONTROL_NAME(form, type, mode, bytes), FRAME_NAME(form, type, mode, bytes))

const struct kit_test call_composite_tests[] = {
    COMPOSITE_CALLS(ROW, inter)
    COMPOSITE_CALLS(ROW, intra)
    COMPOSITE_CALLS(ROW, inline)
    {.name = NULL},
};
