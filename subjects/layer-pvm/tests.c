#include "spawn.h"
#include "tests.h"

#include <stddef.h>

static const struct kit_test pvm_tests[] = {
    ROUNDTRIP_TEST, STREAM_TEST, ALLTOALL_TESTS, BARRIER_TESTS, BROADCAST_TESTS,
    REDUCE_TESTS, SPAWN_TEST, {.name = NULL},
};

const struct kit_test *const kit_tables[] = {pvm_tests, NULL};
