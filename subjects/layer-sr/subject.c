/* The C side of the subject: the kit and its tests. The kit calls its tests, and SR's main process asks for one step
 * after another. So the kit has a stack of its own, and each lets the other go on:
 *
 *     SR's main process    subject_next ─▶          ─▶ does the step, subject_next ─▶
 *     the kit                              a frame ─▶                                 the frame returns
 *
 * The process that the partner's virtual machine is serves no requests; only `subject_begins` and `subject_reads_report`
 * are called there. */
#include "kit.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

/* As layer.sr has them. */
enum step { RPC, RENDEZVOUS, STREAM, CREATE, SWITCH, BEGINS, REPORTS, ENDS };

#define BYTES_MOST 8192u /* of an argument, as in partner.sr */

#define KIT_STACK_BYTES (1u << 20)

static ucontext_t kit, program;
static int32_t wanted_step, wanted_count, bytes;
static pid_t partner;

/* Has SR's main process do a step. Called by the kit. */
static void do_step(enum step step, int32_t count)
{
    wanted_step = step;
    wanted_count = count;
    swapcontext(&kit, &program);
}

_Noreturn void subject_exit(int code)
{
    (void)code; /* the kit has served its last request */
    do_step(ENDS, 0);
    abort();
}

static void run_kit(void)
{
    int kit_main(void);
    subject_exit(kit_main());
}

void subject_next(int32_t *step, int32_t *count, int32_t *argument_bytes)
{
    static bool has_begun;
    if (!has_begun) {
        void *stack = malloc(KIT_STACK_BYTES);
        if (!stack || getcontext(&kit) != 0) {
            perror("no stack for the kit");
            _exit(EXIT_FAILURE);
        }
        kit.uc_stack = (stack_t){.ss_sp = stack, .ss_size = KIT_STACK_BYTES};
        makecontext(&kit, run_kit, 0);
        has_begun = true;
    }
    swapcontext(&program, &kit);
    *step = wanted_step;
    *count = wanted_count;
    *argument_bytes = bytes;
}

/* Processes ------------------------------------------------------------------------------------------------------------ */

/* Calls `act` for each thread of a process; false where it cannot be looked at. */
static bool each_thread(pid_t process, void (*act)(pid_t process, pid_t thread, void *context), void *context)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *threads = opendir(path);
    if (!threads)
        return false;
    for (struct dirent *entry; (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            act(process, (pid_t)atoi(entry->d_name), context);
    closedir(threads);
    return true;
}

static void move(pid_t process, pid_t thread, void *to)
{
    (void)process;
    sched_setaffinity(thread, sizeof(cpu_set_t), to);
}

static void add_switches(pid_t process, pid_t thread, void *sum)
{
    (void)process;
    *(uint64_t *)sum += kit_switches_of(thread);
}

/* Context switches of the partner so far. */
static uint64_t partners_switches(void)
{
    uint64_t sum = 0;
    if (partner != 0)
        each_thread(partner, add_switches, &sum);
    return sum;
}

/* Called on the partner's virtual machine. All threads go to the processor, unless it is -1. */
int32_t subject_begins(int32_t processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (processor >= 0) {
        CPU_SET((unsigned)processor, &set);
        each_thread(getpid(), move, &set);
    }
    return (int32_t)getpid();
}

_Static_assert(sizeof(struct kit_report) <= 266 * sizeof(int32_t), "a report fits into the array of partner.sr");

/* Called on the partner's virtual machine. */
void subject_reads_report(int32_t *report)
{
    struct kit_report own;
    kit_read_report(&own, "partner");
    memcpy(report, &own, sizeof own);
}

void subject_adds_report(int32_t *report)
{
    struct kit_report other;
    memcpy(&other, report, sizeof other);
    kit_add_report(&other);
}

void subject_knows(int32_t process)
{
    partner = (pid_t)process;
}

/* Tests ------------------------------------------------------------------------------------------------------------------ */

static enum step prepared;
static uint64_t switches_before;

/* Threads of the run-time's own may have started before the kit was told where they belong. */
static void prepare(enum step step, uint64_t argument)
{
    cpu_set_t set;
    if (argument > BYTES_MOST)
        kit_fail("an argument has at most %u bytes: a send of SR never waits, and many long ones fill the memory", BYTES_MOST);
    prepared = step;
    bytes = (int32_t)argument;
    if (partner == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        each_thread(getpid(), move, &set);
    do_step(BEGINS, kit_partner_processor());
}

static bool has_partner(void)
{
    return prepared <= STREAM;
}

/* Two operations before a slice wake all that take part in it. */
static void begin(const void *context, uint64_t argument, uint64_t operations)
{
    (void)context;
    (void)argument;
    (void)operations;
    do_step(prepared, 2);
    if (kit_reporting() && has_partner())
        do_step(REPORTS, 0);
    switches_before = partners_switches();
}

static void reset(void)
{
    kit_add_switches(partners_switches() - switches_before);
}

static uint64_t control(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum++;
    do_step(prepared, 0);
    return sum;
}

static uint64_t test(uint64_t iterations)
{
    do_step(prepared, (int32_t)iterations);
    return iterations;
}

static void prepare_rpc(uint64_t argument) { prepare(RPC, argument); }
static void prepare_rendezvous(uint64_t argument) { prepare(RENDEZVOUS, argument); }
static void prepare_stream(uint64_t argument) { prepare(STREAM, argument); }
static void prepare_create(uint64_t none) { prepare(CREATE, none); }
static void prepare_switch(uint64_t none) { prepare(SWITCH, none); }

#define TEST(text, hook, partners, unit)                                                                               \
    {.name = text, .kind = KIT_FRAME, .control = control, .test = test, .prepare = hook, .begin = begin,               \
     .reset = reset, .threads = 1 + (partners), .arg_unit = unit, .most_iterations = INT32_MAX}

static const struct kit_test tests[] = {
    TEST("rpc.fiber", prepare_rpc, 1, "bytes"),
    TEST("rendezvous.fiber", prepare_rendezvous, 1, "bytes"),
    TEST("stream", prepare_stream, 1, "bytes"),
    TEST("thread.create.fiber", prepare_create, 0, NULL),
    TEST("thread.switch.fiber", prepare_switch, 0, NULL),
    {.name = NULL},
};
const struct kit_test *const kit_tables[] = {tests, NULL};
