/* The control frames of all call tests: the subprograms' statements in line. */
#include "calls.h"

#define SCALAR_CONTROL(form, type, mode, count)                                                                        \
    CALL_FRAME(CONTROL_NAME(form, type, mode, count), SCALAR_IN_LINE(form, type, mode, count))
#define COMPOSITE_CONTROL(form, type, mode, bytes)                                                                     \
    CALL_FRAME(CONTROL_NAME(form, type, mode, bytes), COMPOSITE_IN_LINE(form, type, mode, bytes))

CALL_FRAME(control_none, )
SCALAR_CALLS(SCALAR_CONTROL, control)
COMPOSITE_CALLS(COMPOSITE_CONTROL, control)
