/* Arithmetic on times and durations, both struct timespec with 0 <= tv_nsec < 10⁹. The control assigns the left operand. */
#include "features.h"

#include <stddef.h>
#include <time.h>

#define BILLION 1000000000L

static inline struct timespec plus(struct timespec a, struct timespec b)
{
    struct timespec sum = {.tv_sec = a.tv_sec + b.tv_sec, .tv_nsec = a.tv_nsec + b.tv_nsec};
    if (sum.tv_nsec >= BILLION) {
        sum.tv_nsec -= BILLION;
        sum.tv_sec++;
    }
    return sum;
}

static inline struct timespec minus(struct timespec a, struct timespec b)
{
    struct timespec difference = {.tv_sec = a.tv_sec - b.tv_sec, .tv_nsec = a.tv_nsec - b.tv_nsec};
    if (difference.tv_nsec < 0) {
        difference.tv_nsec += BILLION;
        difference.tv_sec--;
    }
    return difference;
}

/* Operands. A variable is changed, as far as the compiler knows, before each use. */
static struct timespec time_1 = {.tv_sec = 86400, .tv_nsec = 600000000};
static struct timespec time_2 = {.tv_sec = 3600, .tv_nsec = 700000000};
static struct timespec duration_1 = {.tv_sec = 2, .tv_nsec = 600000000};
static struct timespec duration_2 = {.tv_sec = 1, .tv_nsec = 700000000};
static struct timespec result;

#define CONSTANT_time_1 ((struct timespec){.tv_sec = 86400, .tv_nsec = 600000000})
#define CONSTANT_time_2 ((struct timespec){.tv_sec = 3600, .tv_nsec = 700000000})
#define CONSTANT_duration_1 ((struct timespec){.tv_sec = 2, .tv_nsec = 600000000})
#define CONSTANT_duration_2 ((struct timespec){.tv_sec = 1, .tv_nsec = 700000000})

#define OPERAND_variable(object) object
#define OPERAND_constant(object) CONSTANT_##object

#define FRAME(name, expression)                                                                                        \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            KIT_KEEP(time_1);                                                                                          \
            KIT_KEEP(time_2);                                                                                          \
            KIT_KEEP(duration_1);                                                                                      \
            KIT_KEEP(duration_2);                                                                                      \
            result = expression;                                                                                       \
            KIT_KEEP(result);                                                                                          \
            sum += (uint64_t)result.tv_nsec;                                                                           \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

#define OPERATIONS(X)                                                                                                  \
    X(time_plus_duration, plus, time_1, duration_2)                                                                    \
    X(duration_plus_time, plus, duration_1, time_2)                                                                    \
    X(time_minus_duration, minus, time_1, duration_2)                                                                  \
    X(time_minus_time, minus, time_1, time_2)                                                                          \
    X(duration_plus_duration, plus, duration_1, duration_2)                                                            \
    X(duration_minus_duration, minus, duration_1, duration_2)

#define TEST_FRAME(name, operator, left, right, l, r)                                                                  \
    FRAME(name##_##l##_##r, operator(OPERAND_##l(left), OPERAND_##r(right)))
#define FRAMES(name, operator, left, right)                                                                            \
    FRAME(name##_control_variable, OPERAND_variable(left))                                                             \
    FRAME(name##_control_constant, OPERAND_constant(left))                                                             \
    TEST_FRAME(name, operator, left, right, variable, variable)                                                        \
    TEST_FRAME(name, operator, left, right, variable, constant)                                                        \
    TEST_FRAME(name, operator, left, right, constant, variable)                                                        \
    TEST_FRAME(name, operator, left, right, constant, constant)
OPERATIONS(FRAMES)

#define ROW(operation, l, r)                                                                                           \
    {.name = "time." #operation "." #l "_" #r, .control = frame_##operation##_control_##l,                             \
     .test = frame_##operation##_##l##_##r},
#define ROWS(operation, operator, left, right)                                                                         \
    ROW(operation, variable, variable) ROW(operation, variable, constant)                                              \
    ROW(operation, constant, variable) ROW(operation, constant, constant)
const struct kit_test time_tests[] = {OPERATIONS(ROWS){.name = NULL}};
