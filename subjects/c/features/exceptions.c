/* setjmp as the handler and longjmp as the raise, in the shapes of the Ada subject:
 *
 * block      raised and handled in one block of the frame's loop
 * procedure  raised in a procedure of its own, handled by the block that called it
 * levels_N   propagated through N procedures without handlers (the one that raises is the first of them)
 *
 * The control calls the same procedures with a cause that raises nothing, and does what the handler does. Two causes: `user`
 * is a plain longjmp; `overflow` is the smallest integer divided by −1, which the processor traps, the system turns into SIGFPE
 * and the signal handler into a siglongjmp. */
#include "features.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf handler;

/* Without the signal mask: saving it is a system call, and the SIGFPE handler below does not block its signal. */
#define HANDLED() (sigsetjmp(handler, 0) != 0)

/* A frame's own variables outlast the jump, since none is changed between a setjmp and the longjmp to it (C17 7.13.2.1);
 * but gcc sees them changed in the loop, and warns. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* Causes ---------------------------------------------------------------------------------------------------------------- */

static inline void jump(void)
{
    siglongjmp(handler, 1);
}

#if defined(__x86_64__)
#define TRAPS NULL
static inline void trap(void)
{
    int low = INT_MIN, high = -1, divisor = -1;
    __asm__ volatile("idivl %2" : "+a"(low), "+d"(high) : "r"(divisor) : "cc", "memory");
}
#else
#define TRAPS "an overflowing division does not trap on this processor; run it on x86-64"
static inline void trap(void)
{
}
#endif

KIT_APART static void raise_nothing(void)
{
}

KIT_APART static void raise_user(void)
{
    jump();
}

KIT_APART static void raise_overflow(void)
{
    trap();
}

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

/* Chains of procedures without handlers. The first of a chain is the cause; each further one does something after its call, so
 * that the call is not turned into a jump. */

static void (*first)(void) = raise_nothing;
static unsigned returns;

static inline void note_return(void)
{
    returns = (returns + 1) % (1u << 20);
}

#define LEVEL(number, next)                                                                                            \
    KIT_APART static void level_##number(void)                                                                         \
    {                                                                                                                  \
        next();                                                                                                        \
        note_return();                                                                                                 \
    }

LEVEL(2, first)
LEVEL(3, level_2)
LEVEL(4, level_3)
LEVEL(5, level_4)
LEVEL(6, level_5)
LEVEL(7, level_6)
LEVEL(8, level_7)
LEVEL(9, level_8)
LEVEL(10, level_9)
LEVEL(11, level_10)
LEVEL(12, level_11)
LEVEL(13, level_12)
LEVEL(14, level_13)
LEVEL(15, level_14)
LEVEL(16, level_15)

/* Not raised: what is called with and without a handler around it ---------------------------------------------------------- */

static int result;

#define FRAME(name, before, statement)                                                                                 \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        uint64_t i = 0, handled = 0;                                                                                   \
        before;                                                                                                        \
        while (i < iterations) {                                                                                       \
            statement;                                                                                                 \
            i = kit_increment(i);                                                                                      \
        }                                                                                                              \
        return handled > 0 ? handled : i;                                                                              \
    }

KIT_APART static void procedure_without_handler(void)
{
    raise_nothing();
    result = 1;
}

KIT_APART static void procedure_with_handler(void)
{
    if (HANDLED()) {
        result = 2;
    } else {
        raise_nothing();
        result = 1;
    }
}

FRAME(bare, , raise_nothing())
FRAME(handler_in_block, , if (HANDLED()) result = 2; else raise_nothing())
FRAME(bare_procedure, , procedure_without_handler())
FRAME(handler_in_procedure, , procedure_with_handler())

/* Raised -------------------------------------------------------------------------------------------------------------------- */

#define NOT_RAISED(call) call; handled++
#define RAISED(call) if (HANDLED()) handled++; else call

FRAME(block_raises_nothing, , handled++)
FRAME(procedure_raises_nothing, , NOT_RAISED(raise_nothing()))
FRAME(levels_4_raise_nothing, first = raise_nothing, NOT_RAISED(level_4()))
FRAME(levels_16_raise_nothing, first = raise_nothing, NOT_RAISED(level_16()))

#define RAISING_FRAMES(cause, in_place)                                                                                \
    FRAME(block_raises_##cause, , RAISED(in_place()))                                                                  \
    FRAME(procedure_raises_##cause, , RAISED(raise_##cause()))                                                         \
    FRAME(levels_4_raise_##cause, first = raise_##cause, RAISED(level_4()))                                            \
    FRAME(levels_16_raise_##cause, first = raise_##cause, RAISED(level_16()))

RAISING_FRAMES(user, jump)
RAISING_FRAMES(overflow, trap)

/* The table ------------------------------------------------------------------------------------------------------------- */

#define USER(handled, frame)                                                                                           \
    {.name = "exception.user." handled, .control = frame_##frame##_nothing, .test = frame_##frame##_user},
#define OVERFLOW(handled, frame)                                                                                       \
    {.name = "exception.overflow." handled, .control = frame_##frame##_nothing, .test = frame_##frame##_overflow,      \
     .prepare = catch_traps, .finish = leave_traps, .absent = TRAPS},

const struct kit_test exception_tests[] = {
    {.name = "exception.not_raised.block", .control = frame_bare, .test = frame_handler_in_block},
    {.name = "exception.not_raised.procedure", .control = frame_bare_procedure, .test = frame_handler_in_procedure},
    USER("block", block_raises)
    USER("procedure", procedure_raises)
    USER("levels_4", levels_4_raise)
    USER("levels_16", levels_16_raise)
    OVERFLOW("block", block_raises)
    OVERFLOW("procedure", procedure_raises)
    OVERFLOW("levels_4", levels_4_raise)
    OVERFLOW("levels_16", levels_16_raise)
    {.name = NULL},
};
