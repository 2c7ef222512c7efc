/* setjmp as the handler and longjmp as the raise. Two causes: `user` is a plain longjmp; `overflow` is the smallest integer
 * divided by −1, which the processor traps, the system turns into SIGFPE and the signal handler into a siglongjmp. */
#include "features.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf handler;

/* Without the signal mask: saving it is a system call, and the SIGFPE handler below does not block its signal. */
#define HANDLED() (sigsetjmp(handler, 0) != 0)

/* Causes ---------------------------------------------------------------------------------------------------------------- */

#define RAISE_user() siglongjmp(handler, 1)

#if defined(__x86_64__)
#define TRAPS NULL
static void raise_overflow(void)
{
    int low = INT_MIN, high = -1, divisor = -1;
    __asm__ volatile("idivl %2" : "+a"(low), "+d"(high) : "r"(divisor) : "cc", "memory");
}
#else
#define TRAPS "an overflowing division does not trap on this processor; run it on x86-64"
static void raise_overflow(void)
{
}
#endif
#define RAISE_overflow() raise_overflow()

static struct sigaction action_before;

static void on_trap(int signal_number)
{
    (void)signal_number;
    siglongjmp(handler, 1);
}

static void catch_traps(uint64_t argument)
{
    (void)argument;
    struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGFPE, &action, &action_before);
}

static void leave_traps(void)
{
    sigaction(SIGFPE, &action_before, NULL);
}

/* Not raised ------------------------------------------------------------------------------------------------------------ */

static uint64_t counted; /* in memory, like the index: what changes must outlast the jump */

#define FRAME(name, statement)                                                                                         \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        counted = 0;                                                                                                   \
        for (volatile uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                             \
            statement;                                                                                                 \
        }                                                                                                              \
        return counted;                                                                                                \
    }

KIT_APART static void procedure_without_handler(void)
{
    counted += 1;
}

KIT_APART static void procedure_with_handler(void)
{
    if (HANDLED())
        counted += 2;
    else
        counted += 1;
}

FRAME(block_without_handler, counted += 1)
FRAME(block_with_handler, if (HANDLED()) counted += 2; else counted += 1)
FRAME(calls_without_handler, procedure_without_handler())
FRAME(calls_with_handler, procedure_with_handler())

/* Raised: in the handler's block, in the handler's procedure, and some calls below it ---------------------------------------- */

#define RAISED_TESTS(cause)                                                                                            \
    KIT_APART static void procedure_raises_##cause(void)                                                               \
    {                                                                                                                  \
        if (!HANDLED())                                                                                                \
            RAISE_##cause();                                                                                           \
        counted += 1;                                                                                                  \
    }                                                                                                                  \
    KIT_APART static void deep_raises_##cause(unsigned levels)                                                         \
    {                                                                                                                  \
        if (levels > 1)                                                                                                \
            deep_raises_##cause(levels - 1);                                                                           \
        else                                                                                                           \
            RAISE_##cause();                                                                                           \
        KIT_KEEP(counted);                                                                                             \
    }                                                                                                                  \
    FRAME(block_raises_##cause, if (!HANDLED()) RAISE_##cause(); counted += 1)                                         \
    FRAME(procedures_raise_##cause, procedure_raises_##cause())                                                        \
    FRAME(levels_4_raise_##cause, if (!HANDLED()) deep_raises_##cause(4); counted += 1)                                \
    FRAME(levels_16_raise_##cause, if (!HANDLED()) deep_raises_##cause(16); counted += 1)

RAISED_TESTS(user)
RAISED_TESTS(overflow)

KIT_APART static void deep_returns(unsigned levels)
{
    if (levels > 1)
        deep_returns(levels - 1);
    KIT_KEEP(counted);
}

FRAME(levels_4_return, deep_returns(4); counted += 1)
FRAME(levels_16_return, deep_returns(16); counted += 1)

/* The table ------------------------------------------------------------------------------------------------------------- */

#define USER(handled, control_, test_)                                                                                 \
    {.name = "exception.user." handled, .control = frame_##control_, .test = frame_##test_}
#define OVERFLOW(handled, control_, test_)                                                                             \
    {.name = "exception.overflow." handled, .control = frame_##control_, .test = frame_##test_,                        \
     .prepare = catch_traps, .finish = leave_traps, .absent = TRAPS}

const struct kit_test exception_tests[] = {
    {.name = "exception.not_raised.block", .control = frame_block_without_handler, .test = frame_block_with_handler},
    {.name = "exception.not_raised.procedure", .control = frame_calls_without_handler, .test = frame_calls_with_handler},
    USER("block", block_without_handler, block_raises_user),
    USER("procedure", calls_without_handler, procedures_raise_user),
    USER("levels_4", levels_4_return, levels_4_raise_user),
    USER("levels_16", levels_16_return, levels_16_raise_user),
    OVERFLOW("block", block_without_handler, block_raises_overflow),
    OVERFLOW("procedure", calls_without_handler, procedures_raise_overflow),
    OVERFLOW("levels_4", levels_4_return, levels_4_raise_overflow),
    OVERFLOW("levels_16", levels_16_return, levels_16_raise_overflow),
    {.name = NULL},
};
