/* Requests that give a sequence of times: readings of a clock, latencies, storage loops. */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Clocks ----------------------------------------------------------------------------------------------------------- */

void serve_clock(const struct request *request)
{
    uint64_t count;
    if (!has_words(request, 3, "clock NAME COUNT"))
        return;
    const struct clock_source *clock = requested_clock(request);
    if (!clock || !parse_number("COUNT", request->word[2], 1, KIT_READINGS_MOST, &count))
        return;
    uint64_t *reading = touched_storage(count, sizeof *reading);
    if (!reading)
        return;
    forget_reports();
    kit_thread_reports("main");
    clock->fill(reading, count);
    kit_thread_reports("main");
    answer_readings(reading, count);
    answer_reports();
    answer_ok();
    free(reading);
}

/* Latency ---------------------------------------------------------------------------------------------------------- */

/* Sleep ends late, so the last of the waiting is spent looking at the clock. */
#define SPIN_NS 150000u

struct timed_operation {
    uint64_t intended_ns;
    struct kit_sample sample;
};

struct latency {
    const struct kit_test *test;
    uint64_t argument, count, interval_ns;
    struct timed_operation *operations;
};

static void wait_until(uint64_t moment_ns)
{
    if (moment_ns > kit_now() + SPIN_NS) {
        uint64_t wake_ns = moment_ns - SPIN_NS;
        struct timespec wake = {.tv_sec = (time_t)(wake_ns / 1000000000u), .tv_nsec = (long)(wake_ns % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
    }
    while (kit_now() < moment_ns)
        continue;
}

static void run_operations(const struct latency *latency)
{
    uint64_t first_ns = kit_now();
    for (uint64_t i = 0; i < latency->count; i++) {
        struct timed_operation *operation = &latency->operations[i];
        if (latency->interval_ns > 0) {
            operation->intended_ns = first_ns + i * latency->interval_ns;
            wait_until(operation->intended_ns);
        } else {
            operation->intended_ns = kit_now();
        }
        latency->test->operate(&operation->sample);
    }
}

/* The first and the last operation are untimed: in them threads report. */
static void run_latency(void *context)
{
    const struct latency *latency = context;
    struct kit_sample untimed;
    forget_reports();
    start_reporting();
    if (latency->test->prepare)
        latency->test->prepare(latency->argument);
    latency->test->operate(&untimed);
    stop_reporting();
    run_operations(latency);
    start_reporting();
    latency->test->operate(&untimed);
}

static bool parse_latency(const struct request *request, struct latency *latency)
{
    if (!has_words(request, 2, "latency NAME count=C interval=T [arg=A]"))
        return false;
    latency->test = requested_test(request, KIT_LATENCY, &latency->argument);
    return latency->test && number_field(request, "count", 1, KIT_READINGS_MOST, &latency->count) &&
           number_field(request, "interval", 0, UINT64_C(1000000000000), &latency->interval_ns);
}

static void answer_latency(const struct latency *latency)
{
    for (uint64_t i = 0; i < latency->count; i++) {
        const struct timed_operation *operation = &latency->operations[i];
        printf("@@ sample %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", operation->intended_ns, operation->sample.actual_ns,
               operation->sample.ended_ns);
    }
    answer_reports();
    answer_ok();
}

void serve_latency(const struct request *request)
{
    struct latency latency = {0};
    finish_slices();
    if (!parse_latency(request, &latency))
        return;
    latency.operations = touched_storage(latency.count, sizeof *latency.operations);
    if (!latency.operations)
        return;
    const char *failed = attempt(run_latency, &latency);
    run_hook(latency.test->finish);
    if (failed)
        answer_error("failed", "%s", failed);
    else
        answer_latency(&latency);
    free(latency.operations);
}

/* Storage loops ------------------------------------------------------------------------------------------------------ */

struct series {
    const struct kit_test *test;
    uint64_t argument, count, completed;
    uint64_t *reading; /* one before the loop and one after each turn */
};

static void run_series(void *context)
{
    struct series *series = context;
    kit_turn *turn = series->test->turn;
    if (series->test->prepare)
        series->test->prepare(series->argument);
    series->reading[0] = kit_now();
    for (uint64_t i = 1; i <= series->count && turn(i); i++) {
        series->reading[i] = kit_now();
        series->completed = i;
    }
}

static void answer_series(const struct series *series)
{
    answer_readings(series->reading, series->completed + 1);
    printf("@@ outcome completed=%" PRIu64, series->completed);
    if (series->completed == series->count) {
        fputs(" end=count\n", stdout);
    } else {
        fputs(" end=exhausted text=", stdout);
        answer_value("malloc returned NULL");
        putchar('\n');
    }
    answer_reports();
    answer_ok();
}

void serve_series(const struct request *request)
{
    struct series series = {0};
    finish_slices();
    if (!has_words(request, 2, "series NAME count=C [arg=A]"))
        return;
    series.test = requested_test(request, KIT_SERIES, &series.argument);
    if (!series.test || !number_field(request, "count", 1, KIT_READINGS_MOST, &series.count))
        return;
    series.reading = touched_storage(series.count + 1, sizeof *series.reading);
    if (!series.reading)
        return;
    forget_reports();
    kit_thread_reports("main");
    const char *failed = attempt(run_series, &series);
    run_hook(series.test->finish);
    kit_thread_reports("main"); /* when there is storage again */
    if (failed)
        answer_error("failed", "%s", failed);
    else
        answer_series(&series);
    free(series.reading);
}
