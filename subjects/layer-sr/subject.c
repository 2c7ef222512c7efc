/* The tests of the subject, each a step of layer.sr. */
#include "../c/steps/steps.h"

/* As layer.sr has them. */
enum step { RPC = OWN_STEPS, RENDEZVOUS, STREAM, CREATE, SWITCH };

#define BYTES_MOST 8192u /* of an argument, as in partner.sr: a send never waits, and many long ones fill the memory */

static enum step prepared;
static uint64_t switches_before;

static void prepare(enum step step, uint64_t argument)
{
    use_argument(argument, BYTES_MOST);
    prepared = step;
    begin_partners();
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
