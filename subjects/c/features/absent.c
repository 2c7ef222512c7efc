/* What the suite measures in other languages and C does not have, so that a report says why a cell is empty. */
#include "calls.h"
#include "features.h"

#include <stddef.h>

#define ABSENT(row, why) {.name = row, .absent = why},
#define ABSENT_BY_HANDLING(row, why)                                                                                   \
    ABSENT(row ".block", why) ABSENT(row ".procedure", why) ABSENT(row ".levels_4", why) ABSENT(row ".levels_16", why)
#define ABSENT_BY_COUNT(row, why) ABSENT(row ".1", why) ABSENT(row ".10", why) ABSENT(row ".100", why)

#define NO_GENERICS "C has no generic units; see call.inter and call.intra"
#define NO_CHECKS "C checks no ranges and predefines no exceptions; see exception.user and exception.overflow"
#define NO_TASK_DECLARATIONS "C declares no tasks, it creates threads; see task.allocated"
#define NO_TASK_ERRORS "C has no task entries that a call could fail on; see exception.user"
#define NO_RENDEZVOUS "C has no rendezvous; see handoff.semaphore"
#define NO_ENTRIES "a mutex has no entries; see protected.procedure"
#define NO_REQUEUE "C has no requeue; see protected.entry"
#define NO_SUSPENSION_OBJECTS "a suspension object is a library type of Ada; see handoff.semaphore"
#define NO_ADA_CLOCK(instead) "a clock of Ada's library; see clock." instead
#define NO_PROTECTED_HANDLERS "C has no protected handlers; see interrupt.signal_handler"

#define GENERIC(form, type, mode, size) ABSENT("call." #form "." #type "." #mode "." #size, NO_GENERICS)

const struct kit_test absent_tests[] = {
    ABSENT("call.generic_inter.none", NO_GENERICS)
    SCALAR_CALLS(GENERIC, generic_inter)
    COMPOSITE_CALLS(GENERIC, generic_inter)
    ABSENT("call.generic_intra.none", NO_GENERICS)
    SCALAR_CALLS(GENERIC, generic_intra)
    COMPOSITE_CALLS(GENERIC, generic_intra)

    ABSENT_BY_HANDLING("exception.range", NO_CHECKS)
    ABSENT_BY_HANDLING("exception.constraint_error", NO_CHECKS)
    ABSENT_BY_HANDLING("exception.tasking_error", NO_TASK_ERRORS)
    ABSENT("exception.completed_task.block", NO_TASK_ERRORS)

    ABSENT("task.declared", NO_TASK_DECLARATIONS)
    ABSENT("task.type_object", NO_TASK_DECLARATIONS)

    ABSENT("rendezvous.simple", NO_RENDEZVOUS)
    ABSENT("rendezvous.no_body", NO_RENDEZVOUS)
    ABSENT_BY_COUNT("rendezvous.integer.in", NO_RENDEZVOUS)
    ABSENT_BY_COUNT("rendezvous.integer.out", NO_RENDEZVOUS)
    ABSENT_BY_COUNT("rendezvous.integer.in_out", NO_RENDEZVOUS)
    ABSENT("rendezvous.select.2", NO_RENDEZVOUS)
    ABSENT("rendezvous.select.10", NO_RENDEZVOUS)
    ABSENT("rendezvous.conditional.accepted", NO_RENDEZVOUS)
    ABSENT("rendezvous.conditional.refused", NO_RENDEZVOUS)
    ABSENT("rendezvous.timed.accepted", NO_RENDEZVOUS)
    ABSENT("rendezvous.timed.expired", NO_RENDEZVOUS)
    ABSENT("rendezvous.timed.expired_1us", NO_RENDEZVOUS)

    ABSENT("handoff.suspension_object", NO_SUSPENSION_OBJECTS)
    ABSENT("protected.procedure_with_entries", NO_ENTRIES)
    ABSENT("protected.requeue", NO_REQUEUE)

    ABSENT("clock.calendar", NO_ADA_CLOCK("realtime"))
    ABSENT("clock.real_time", NO_ADA_CLOCK("monotonic"))
    ABSENT("clock.execution_time", NO_ADA_CLOCK("thread_cputime"))

    {.name = "interrupt.protected_handler", .kind = KIT_LATENCY, .absent = NO_PROTECTED_HANDLERS},
    {.name = NULL},
};
