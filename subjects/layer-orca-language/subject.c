/* The tests of the subject, each a step of layer.imp. */
#include "../c/steps/steps.h"

/* As layer.imp has them. */
enum step { REMOTE = OWN_STEPS, GROUP, STREAM, READ, TURN, ORDER };

#define BYTES_MOST 65000u /* of an argument */
#define OTHERS 15         /* machines beside the leader's */

static enum step prepared;
static uint64_t switches_before;

/* The machines that take part in an operation. */
static int32_t partners(void)
{
    switch (prepared) {
    case REMOTE: return 1;
    case READ: return 0;
    default: return OTHERS;
    }
}

static void prepare(enum step step, uint64_t argument)
{
    use_argument(argument, BYTES_MOST);
    prepared = step;
    begin_partners();
}

/* Two operations before a slice wake all that take part in it. */
static void begin(const void *context, uint64_t argument, uint64_t operations)
{
    (void)context;
    (void)argument;
    if (prepared == TURN)
        do_step(ORDER, (int32_t)operations + 2);
    do_step(prepared, 2);
    if (kit_reporting() && partners() > 0)
        do_step(REPORTS, partners());
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

static void prepare_remote(uint64_t argument) { prepare(REMOTE, argument); }
static void prepare_group(uint64_t none) { prepare(GROUP, none); }
static void prepare_stream(uint64_t none) { prepare(STREAM, none); }
static void prepare_read(uint64_t none) { prepare(READ, none); }
static void prepare_turn(uint64_t none) { prepare(TURN, none); }

#define TEST(text, hook, partners, unit)                                                                               \
    {.name = text, .kind = KIT_FRAME, .control = control, .test = test, .prepare = hook, .begin = begin,               \
     .reset = reset, .threads = 1 + (partners), .arg_unit = unit, .most_iterations = INT32_MAX - 2}

static const struct kit_test tests[] = {
    TEST("object.remote", prepare_remote, 1, "bytes"),
    TEST("object.group.16", prepare_group, OTHERS, NULL),
    TEST("object.turn.16", prepare_turn, OTHERS, NULL),
    TEST("object.stream.16", prepare_stream, OTHERS, NULL),
    TEST("object.read", prepare_read, 0, NULL),
    {.name = NULL},
};
const struct kit_test *const kit_tables[] = {tests, NULL};
