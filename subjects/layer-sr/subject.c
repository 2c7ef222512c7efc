/* The tests of the subject, each a step of layer.sr. */
#include "../c/steps/steps.h"

/* As layer.sr has them. */
enum step { RPC = OWN_STEPS, RENDEZVOUS, STREAM, CREATE, SWITCH };

#define BYTES_MOST 8192u /* of an argument, as in partner.sr: a send never waits, and many long ones fill the memory */

static void prepare(enum step step, uint64_t argument)
{
    prepare_step((int32_t)step, argument, BYTES_MOST);
}

static void begin(const void *context, uint64_t argument, uint64_t operations)
{
    (void)context;
    (void)argument;
    (void)operations;
    begin_slice(prepared_step() <= STREAM ? 1 : 0);
}

static void prepare_rpc(uint64_t argument) { prepare(RPC, argument); }
static void prepare_rendezvous(uint64_t argument) { prepare(RENDEZVOUS, argument); }
static void prepare_stream(uint64_t argument) { prepare(STREAM, argument); }
static void prepare_create(uint64_t none) { prepare(CREATE, none); }
static void prepare_switch(uint64_t none) { prepare(SWITCH, none); }

#define TEST(text, hook, partners, unit)                                                                               \
    {.name = text, .kind = KIT_FRAME, .control = control_loop, .test = step_loop, .prepare = hook,                      \
     .begin = begin, .reset = end_slice, .threads = 1 + (partners), .arg_unit = unit,                                   \
     .most_iterations = INT32_MAX}

static const struct kit_test tests[] = {
    TEST("rpc.fiber", prepare_rpc, 1, "bytes"),
    TEST("rendezvous.fiber", prepare_rendezvous, 1, "bytes"),
    TEST("stream", prepare_stream, 1, "bytes"),
    TEST("thread.create.fiber", prepare_create, 0, NULL),
    TEST("thread.switch.fiber", prepare_switch, 0, NULL),
    {.name = NULL},
};
const struct kit_test *const kit_tables[] = {tests, NULL};
