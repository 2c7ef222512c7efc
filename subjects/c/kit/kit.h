/* What a test of the C subject is made of.
 *
 * A test is a row of a table; a subject lists its tables in `kit_tables`, and the kit's main program serves the
 * requests of docs/reference/subject-protocol.md from them. The kit is compiled apart from the tests and without link-time
 * optimisation, so nothing in a frame can be folded through a call of the kit.
 */
#ifndef KIT_H
#define KIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* C++ uses the kit too (subjects/cpp/kit); it has other names for two things of C. */
#ifdef __cplusplus
#include <atomic>
using std::atomic_bool;
using std::atomic_load_explicit;
using std::memory_order_relaxed;
#define KIT_NORETURN [[noreturn]]
extern "C" {
#else
#include <stdatomic.h>
#define KIT_NORETURN _Noreturn
#endif

/* Frames ----------------------------------------------------------------------------------------------------- */

/* A control or a test loop: goes round `iterations` times and returns a checksum that depends on the work done, equal
 * for equal iterations. It is timed: no output, no set-up. */
typedef uint64_t kit_frame(uint64_t iterations);

/* The hidden increment: loops count with it so that no compiler sees their end.
 *     for (uint64_t i = 0; i < iterations; i = kit_increment(i))
 * By value, so that the counter's way through memory does not hide the cost of small operations beside it. */
uint64_t kit_increment(uint64_t index);

/* Makes the compiler believe that the variable has been read and written, without any instruction. */
#define KIT_KEEP(variable) __asm__ volatile("" : "+m"(variable))

/* The same for a variable that holds nothing yet: gives it storage, as if its address had escaped. */
#define KIT_HOLD(variable) __asm__ volatile("" : "=m"(variable))

/* The same for whatever a pointer leads to. */
#define KIT_KEEP_TARGET(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/* A function that is called as if it were compiled apart: neither inlined, cloned, merged nor looked into. */
#if defined(__GNUC__) && !defined(__clang__)
#define KIT_APART __attribute__((noipa))
#else
#define KIT_APART __attribute__((noinline))
#endif

/* Latency: a start and an end for each operation ---------------------------------------------------------------- */

struct kit_sample {
    uint64_t actual_ns; /* when the operation did start */
    uint64_t ended_ns;  /* when it ended; not before its start */
};

typedef void kit_operation(struct kit_sample *sample);

/* Series: storage loops with a clock reading after each turn ------------------------------------------------------ */

/* One turn of the loop (index counts from 1); false if the system refused storage, which ends the loop. */
typedef bool kit_turn(uint64_t index);

/* Tests --------------------------------------------------------------------------------------------------------- */

typedef void kit_prepare_hook(uint64_t argument); /* may call kit_fail */
typedef void kit_hook(void); /* may not fail, but for `reset`; also runs after a preparation that failed half-way */
typedef void kit_begin_hook(const void *context, uint64_t argument, uint64_t operations); /* may call kit_fail */

enum kit_kind { KIT_FRAME, KIT_LATENCY, KIT_SERIES };

struct kit_test {
    const char *name; /* [a-z0-9_.-]+, unique; NULL ends a table */
    enum kit_kind kind;

    kit_frame *control; /* KIT_FRAME */
    kit_frame *test;
    kit_operation *operate; /* KIT_LATENCY */
    kit_turn *turn;         /* KIT_SERIES */

    kit_prepare_hook *prepare; /* untimed, before the warm-up: start partners, take storage; NULL: nothing to do */
    kit_begin_hook *begin;     /* untimed, before each turn of a frame: tell partners in other processes how many operations
                                * they shall take part in, none of the control's; NULL: nothing to do */
    const void *context;       /* for `begin` */
    kit_hook *reset;           /* untimed, after each slice: give storage back; may call kit_fail if the slice went wrong;
                                * also runs after a frame that failed, whose words then stand; NULL: nothing to do */
    kit_hook *finish;          /* untimed, after the last slice, operation or turn: end partners, give all back */

    const char *arg_unit;     /* "ns", "bytes", "count"; NULL: the test takes no argument */
    const char *work;         /* key of equal work across subjects; NULL: none claimed */
    const char *switches;     /* context switches of one operation under placement `same`; NULL: none declared */
    unsigned threads;         /* that take part in one operation; 0 means 1 */
    uint64_t most_iterations; /* that a slice may have, for tests that keep what they take; 0: no limit */
    const char *absent;       /* why the test cannot run here and what would mend it; NULL: it can */
};

/* Defined by the subject: its tables, NULL at the end. The kit's own tests are added by the kit. */
extern const struct kit_test *const kit_tables[];

/* For tests and the threads they start ------------------------------------------------------------------------------ */

/* The subject's clock, CLOCK_MONOTONIC, ns. */
uint64_t kit_now(void);

/* Ends the test with `@@ error failed TEXT`. For the measuring thread: from a frame, an operation, a preparation or a reset.
 * The reset and finish hooks run as usual. */
KIT_NORETURN void kit_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Attributes that start a partner thread where the placement wants it; NULL where it need not be told. */
const pthread_attr_t *kit_partner_attributes(void);

/* True where partners have a processor of their own (placement `across`). */
bool kit_partners_elsewhere(void);

/* pthread_create with those attributes; fails the test if the system refuses. */
void kit_start_partner(pthread_t *thread, void *(*body)(void *), void *context);

extern atomic_bool kit_reporting_now;

/* True in untimed iterations only. */
static inline bool kit_reporting(void)
{
    return atomic_load_explicit(&kit_reporting_now, memory_order_relaxed);
}

/* The calling thread reports its policy, priority, processor and allowed processors. At most 15 letters of `role` are kept. */
void kit_thread_reports(const char *role);

/* Partners in other processes ---------------------------------------------------------------------------------------- */

/* A subject with a test that has a `begin` hook says `switches=own`: its slices carry the context switches of all its
 * processes, voluntary and involuntary together. */

#define KIT_SETS 8 /* × CPU_SETSIZE: room for 8192 processors */

/* What a thread says of itself; copied as it is from process to process. */
struct kit_report {
    char role[16];
    int policy, priority, processor;
    uint64_t count;
    cpu_set_t allowed[KIT_SETS];
};

/* The calling thread's report, read without being noted. */
void kit_read_report(struct kit_report *report, const char *role);

/* Notes a report, of whichever process. */
void kit_add_report(const struct kit_report *report);

/* The processor that partners belong on; -1 where the system chooses. */
int kit_partner_processor(void);

/* Context switches of the main thread of another process so far; 0 where there is no such process. */
uint64_t kit_switches_of(pid_t process);

/* A reset hook tells how many switches partners in other processes made in the slice that has ended. */
void kit_add_switches(uint64_t switches);

/* Threads of tests --------------------------------------------------------------------------------------------------- */

/* What each thread that a test starts calls first, and a long-lived partner at each operation: reports in untimed
 * iterations, and costs one test of a variable in timed ones. */
static inline void kit_thread_takes_part(const char *role)
{
    if (kit_reporting())
        kit_thread_reports(role);
}

#ifdef __cplusplus
}
#endif

#endif
