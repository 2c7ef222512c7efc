/* Operations that block within: they are unwound, and the variables of the C code between are
 * destroyed on the way.
 *
 *     attempt ─ alternative ─ function ─ operation of a nested object ─ block
 *        └───────────────────── unwound ──────────────────────────────────┘
 */
#include <setjmp.h>
#include <unwind.h>

#include "orca.h"

struct attempt {
    struct attempt *outer;
    uintptr_t frame;
    jmp_buf back;
    struct _Unwind_Exception exception;
};

static _Thread_local struct attempt *innermost;

/* Ends the unwinding at the frame of the attempt. The unwinder tells where the frame below ends. */
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception,
                                struct _Unwind_Context *context, void *argument)
{
    struct attempt *attempt = argument;
    (void)version, (void)class, (void)exception;
    if ((actions & _UA_END_OF_STACK) || _Unwind_GetCFA(context) >= attempt->frame)
        longjmp(attempt->back, 1);
    return _URC_NO_REASON;
}

__attribute__((noinline)) int orca_attempt(orca_body body, void *state, void *arguments)
{
    struct attempt attempt = {.outer = innermost};
    attempt.frame = (uintptr_t)__builtin_frame_address(0);
    if (setjmp(attempt.back)) {
        innermost = attempt.outer;
        return ORCA_BLOCKED;
    }
    innermost = &attempt;
    int outcome = body(state, arguments);
    innermost = attempt.outer;
    return outcome;
}

int orca_attempt_or_undo(const struct orca_type *type, orca_body body, void *state, void *arguments)
{
    void *before = orca_allocate(NULL, 1, type->size);
    orca_copy(type, before, state);
    int outcome = orca_attempt(body, state, arguments);
    if (outcome != ORCA_DONE)
        orca_move(type, state, before);
    else
        orca_destroy(type, before);
    orca_free(before);
    return outcome;
}

void orca_unwind(void)
{
    _Unwind_ForcedUnwind(&innermost->exception, stop, innermost);
    orca_fail(NULL, ORCA_SYSTEM_ERROR, "an operation was not unwound", "%s", "its stack is damaged");
}

void orca_block(orca_at place, const char *object, const char *operation)
{
    if (!innermost)
        orca_fail(place, ORCA_ERROR, "local deadlock",
                  "operation %s of %s blocks, and no other process shares the object", operation,
                  object);
    orca_unwind();
}
