/* The tests of the subject, each a step of layer.imp. */
#include "../c/steps/steps.h"

/* As layer.imp has them. */
enum step { REMOTE = OWN_STEPS, GROUP, STREAM, READ, TURN, ORDER };

#define BYTES_MOST 65000u /* of an argument */
#define OTHERS 15         /* machines beside the leader's */

/* The machines that take part in an operation. */
static int32_t partners(void)
{
    switch (prepared_step()) {
    case REMOTE: return 1;
    case READ: return 0;
    default: return OTHERS;
    }
}

static void prepare(enum step step, uint64_t argument)
{
    prepare_step((int32_t)step, argument, BYTES_MOST);
}

/* Machines that take turns are first told how many. */
static void begin(const void *context, uint64_t argument, uint64_t operations)
{
    (void)context;
    (void)argument;
    if (prepared_step() == TURN)
        do_step(ORDER, (int32_t)operations + 2);
    begin_slice(partners());
}

static void prepare_remote(uint64_t argument) { prepare(REMOTE, argument); }
static void prepare_group(uint64_t none) { prepare(GROUP, none); }
static void prepare_stream(uint64_t none) { prepare(STREAM, none); }
static void prepare_read(uint64_t none) { prepare(READ, none); }
static void prepare_turn(uint64_t none) { prepare(TURN, none); }

#define TEST(text, hook, partners, unit)                                                                               \
    {.name = text, .kind = KIT_FRAME, .control = control_loop, .test = step_loop, .prepare = hook,                      \
     .begin = begin, .reset = end_slice, .threads = 1 + (partners), .arg_unit = unit,                                   \
     .most_iterations = INT32_MAX - 2}

static const struct kit_test tests[] = {
    TEST("object.remote", prepare_remote, 1, "bytes"),
    TEST("object.group.16", prepare_group, OTHERS, NULL),
    TEST("object.turn.16", prepare_turn, OTHERS, NULL),
    TEST("object.stream.16", prepare_stream, OTHERS, NULL),
    TEST("object.read", prepare_read, 0, NULL),
    {.name = NULL},
};
const struct kit_test *const kit_tables[] = {tests, NULL};
