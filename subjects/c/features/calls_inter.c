/* The subprograms that are called from another unit. */
#include "calls.h"

#define DEFINE_SCALAR(form, type, mode, count) SCALAR_HEAD(form, type, mode, count) SCALAR_BODY(form, type, mode, count)
#define DEFINE_COMPOSITE(form, type, mode, bytes)                                                                      \
    COMPOSITE_HEAD(form, type, mode, bytes) COMPOSITE_BODY(form, type, mode, bytes)

void call_inter_none(void)
{
}

SCALAR_CALLS(DEFINE_SCALAR, inter)
COMPOSITE_CALLS(DEFINE_COMPOSITE, inter)
