/* Frames: batches of ABBA slices, and single slices. */
#include "internal.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum role { CONTROL, TEST, REFERENCE };

static const char *const role_names[] = {"control", "test", "reference"};

struct slice {
    enum role role;
    uint64_t iterations, start_ns, end_ns, checksum;
    struct resources before, after;
    int processor;
};

static kit_frame *frame_of(const struct kit_test *test, enum role role)
{
    switch (role) {
    case CONTROL: return test->control;
    case TEST: return test->test;
    default: return reference_frame;
    }
}

static void begin_turn(const struct kit_test *test, uint64_t argument, enum role role, uint64_t iterations)
{
    if (role != REFERENCE && test->begin)
        test->begin(test->context, argument, role == TEST ? iterations : 0);
}

/* Where partners are other processes, a slice has one count: all switches of all of them. */
static void take_switches(struct slice *slice)
{
    if (!partners_in_processes())
        return;
    struct resources told;
    read_resources(&told);
    slice->after.voluntary += slice->after.involuntary - slice->before.involuntary;
    slice->after.voluntary += told.elsewhere - slice->before.elsewhere;
    slice->after.involuntary = slice->before.involuntary;
}

/* Between the two readings of the clock there is the frame and nothing else. */
static void run_slice(struct slice *slice, const struct kit_test *test, uint64_t argument, enum role role,
                      uint64_t iterations)
{
    kit_frame *frame = frame_of(test, role);
    slice->role = role;
    slice->iterations = iterations;
    begin_turn(test, argument, role, iterations);
    unlearn_branches();
    read_resources(&slice->before);
    slice->start_ns = kit_now();
    slice->checksum = enter_frame(frame, iterations);
    slice->end_ns = kit_now();
    read_resources(&slice->after);
    slice->processor = sched_getcpu();
    run_hook(test->reset);
    take_switches(slice);
}

static void run_untimed(const struct kit_test *test, uint64_t argument, enum role role, uint64_t iterations)
{
    if (iterations == 0)
        return;
    begin_turn(test, argument, role, iterations);
    frame_of(test, role)(iterations);
    run_hook(test->reset);
}

static void answer_slice(uint64_t block, const struct slice *slice)
{
    const struct resources *before = &slice->before, *after = &slice->after;
    printf("@@ slice %" PRIu64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
           block, role_names[slice->role], slice->iterations, slice->start_ns, slice->end_ns - slice->start_ns,
           after->voluntary - before->voluntary, after->involuntary - before->involuntary,
           after->minor - before->minor, after->major - before->major);
    if (before->wait_known && after->wait_known)
        printf(" %" PRIu64, after->wait_ns - before->wait_ns);
    else
        fputs(" -", stdout);
    if (slice->processor >= 0)
        printf(" %d", slice->processor);
    else
        fputs(" -", stdout);
    printf(" %" PRIu64 "\n", slice->checksum);
}

static bool iterations_fit(const struct kit_test *test, const char *key, uint64_t iterations)
{
    if (test->most_iterations == 0 || iterations <= test->most_iterations)
        return true;
    answer_error("bad-argument", "%s=%" PRIu64 ": %s keeps what it takes until the slice ends; at most %" PRIu64, key,
                 iterations, test->name, test->most_iterations);
    return false;
}

/* Batches ---------------------------------------------------------------------------------------------------------- */

static const enum role with_reference[] = {REFERENCE, CONTROL, TEST, TEST, CONTROL, REFERENCE};
static const enum role without_reference[] = {CONTROL, TEST, TEST, CONTROL};

struct batch {
    const struct kit_test *test;
    uint64_t argument, iterations, blocks, reference, warmup;
    const enum role *order;
    size_t slices_a_block;
    struct slice *slices;
};

static void run_blocks(const struct batch *batch)
{
    size_t slices = (size_t)batch->blocks * batch->slices_a_block;
    for (size_t i = 0; i < slices; i++) {
        enum role role = batch->order[i % batch->slices_a_block];
        run_slice(&batch->slices[i], batch->test, batch->argument, role, role == REFERENCE ? batch->reference : batch->iterations);
    }
}

static void run_batch(void *context)
{
    const struct batch *batch = context;
    forget_reports();
    start_reporting();
    if (batch->test->prepare)
        batch->test->prepare(batch->argument);
    run_untimed(batch->test, batch->argument, CONTROL, batch->warmup);
    run_untimed(batch->test, batch->argument, TEST, batch->warmup);
    stop_reporting();
    run_blocks(batch);
    start_reporting();
    run_untimed(batch->test, batch->argument, TEST, 1);
}

static void answer_batch(const struct batch *batch)
{
    size_t slices = (size_t)batch->blocks * batch->slices_a_block;
    for (size_t i = 0; i < slices; i++)
        answer_slice(i / batch->slices_a_block, &batch->slices[i]);
    answer_reports();
    answer_ok();
}

static bool parse_batch(const struct request *request, struct batch *batch)
{
    if (!has_words(request, 2, "batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]"))
        return false;
    batch->test = requested_test(request, KIT_FRAME, &batch->argument);
    if (!batch->test || !number_field(request, "iterations", 1, INT64_MAX, &batch->iterations) ||
        !number_field(request, "blocks", 1, KIT_BLOCKS_MOST, &batch->blocks) ||
        !number_field(request, "reference", 0, INT64_MAX, &batch->reference) ||
        !number_field(request, "warmup", 0, INT64_MAX, &batch->warmup) ||
        !iterations_fit(batch->test, "iterations", batch->iterations) ||
        !iterations_fit(batch->test, "warmup", batch->warmup))
        return false;
    batch->order = batch->reference ? with_reference : without_reference;
    batch->slices_a_block = batch->reference ? 6 : 4;
    return true;
}

void serve_batch(const struct request *request)
{
    struct batch batch = {0};
    finish_slices();
    if (!parse_batch(request, &batch))
        return;
    batch.slices = touched_storage((size_t)batch.blocks * batch.slices_a_block, sizeof *batch.slices);
    if (!batch.slices)
        return;
    const char *failed = attempt(run_batch, &batch);
    if (failed)
        reset_after_failure(batch.test);
    run_hook(batch.test->finish);
    if (failed)
        answer_error("failed", "%s", failed);
    else
        answer_batch(&batch);
    free(batch.slices);
}

/* Single slices ---------------------------------------------------------------------------------------------------- */

/* The test that stays prepared between requests for its slices. */
static const struct kit_test *prepared;
static uint64_t prepared_argument;

struct single {
    const struct kit_test *test;
    uint64_t argument, iterations, warmup;
    enum role role;
    struct slice slice;
};

void finish_slices(void)
{
    if (prepared)
        run_hook(prepared->finish);
    prepared = NULL;
}

static void run_single(void *context)
{
    struct single *single = context;
    if (prepared != single->test || prepared_argument != single->argument) {
        finish_slices();
        prepared = single->test; /* before it is: a preparation that fails half-way is finished too */
        prepared_argument = single->argument;
        if (single->test->prepare)
            single->test->prepare(single->argument);
    }
    run_untimed(single->test, single->argument, single->role, single->warmup);
    run_slice(&single->slice, single->test, single->argument, single->role, single->iterations);
}

static bool parse_role(const char *word, enum role *role)
{
    for (int i = CONTROL; i <= REFERENCE; i++) {
        if (strcmp(word, role_names[i]) == 0) {
            *role = (enum role)i;
            return true;
        }
    }
    answer_error("bad-argument", "the role must be control, test or reference, not '%s'", word);
    return false;
}

static bool parse_single(const struct request *request, struct single *single)
{
    if (!has_words(request, 3, "slice NAME ROLE iterations=N warmup=W [arg=A]"))
        return false;
    single->test = requested_test(request, KIT_FRAME, &single->argument);
    if (!single->test || !parse_role(request->word[2], &single->role) ||
        !number_field(request, "iterations", 1, INT64_MAX, &single->iterations) ||
        !number_field(request, "warmup", 0, INT64_MAX, &single->warmup))
        return false;
    return single->role == REFERENCE || (iterations_fit(single->test, "iterations", single->iterations) &&
                                         iterations_fit(single->test, "warmup", single->warmup));
}

void serve_slice(const struct request *request)
{
    struct single single = {0};
    if (!parse_single(request, &single))
        return;
    const char *failed = attempt(run_single, &single);
    if (failed) {
        reset_after_failure(single.test);
        finish_slices();
        answer_error("failed", "%s", failed);
        return;
    }
    answer_slice(0, &single.slice);
    answer_ok();
}
