#include "tests.h"

#include <stddef.h>

static const struct kit_test zeromq_tests[] = {
    ROUNDTRIP_TEST, RPC_TEST, STREAM_TEST, ALLTOALL_TESTS, BARRIER_TESTS, BROADCAST_TESTS,
    ABSENT_REDUCE_TESTS("ZeroMQ has no reductions; Open MPI and PVM have"), {.name = NULL},
};

const struct kit_test *const kit_tables[] = {zeromq_tests, NULL};
