/* The two stacks, and the partners' processes. */
#include "steps.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define KIT_STACK_BYTES (1u << 20)
#define PARTNERS_MOST 64

static ucontext_t kit, program;
static int32_t wanted_step, wanted_count, bytes, prepared;
static pid_t partners[PARTNERS_MOST];
static size_t partner_count;
static uint64_t switches_before;

void do_step(int32_t step, int32_t count)
{
    wanted_step = step;
    wanted_count = count;
    swapcontext(&kit, &program);
}

/* The kit has served its last request. */
_Noreturn void subject_exit(int code)
{
    (void)code;
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

/* Processes --------------------------------------------------------------------------------------------------------------- */

/* Calls `act` for each thread of a process, if it can be looked at. */
static void each_thread(pid_t process, void (*act)(pid_t thread, void *context), void *context)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *threads = opendir(path);
    if (!threads)
        return;
    for (struct dirent *entry; (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            act((pid_t)atoi(entry->d_name), context);
    closedir(threads);
}

static void move(pid_t thread, void *to)
{
    sched_setaffinity(thread, sizeof(cpu_set_t), to);
}

static void add_switches(pid_t thread, void *sum)
{
    *(uint64_t *)sum += kit_switches_of(thread);
}

/* Context switches of all partners so far. */
static uint64_t partners_switches(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < partner_count; i++)
        each_thread(partners[i], add_switches, &sum);
    return sum;
}

/* Threads of the run-time's own may have started before the kit was told where they belong. */
static void begin_partners(void)
{
    cpu_set_t set;
    if (partner_count == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        each_thread(getpid(), move, &set);
    do_step(BEGINS, kit_partner_processor());
}

void prepare_step(int32_t step, uint64_t argument_bytes, uint64_t bytes_most)
{
    if (argument_bytes > bytes_most)
        kit_fail("an argument has at most %llu bytes", (unsigned long long)bytes_most);
    bytes = (int32_t)argument_bytes;
    prepared = step;
    begin_partners();
}

int32_t prepared_step(void)
{
    return prepared;
}

void begin_slice(int32_t slice_partners)
{
    do_step(prepared, 2);
    if (kit_reporting() && slice_partners > 0)
        do_step(REPORTS, slice_partners);
    switches_before = partners_switches();
}

void end_slice(void)
{
    kit_add_switches(partners_switches() - switches_before);
}

uint64_t control_loop(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum++;
    do_step(prepared, 0);
    return sum;
}

uint64_t step_loop(uint64_t iterations)
{
    do_step(prepared, (int32_t)iterations);
    return iterations;
}

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

void subject_knows(int32_t process)
{
    for (size_t i = 0; i < partner_count; i++)
        if (partners[i] == (pid_t)process)
            return;
    if (partner_count == PARTNERS_MOST) {
        fprintf(stderr, "a program has at most %d partners\n", PARTNERS_MOST);
        _exit(EXIT_FAILURE);
    }
    partners[partner_count++] = (pid_t)process;
}

_Static_assert(sizeof(struct kit_report) <= REPORT_INTEGERS * sizeof(int32_t), "a report fits into the programs' arrays");

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
