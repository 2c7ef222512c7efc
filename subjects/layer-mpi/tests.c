#include "tests.h"

#include <stddef.h>

static const struct kit_test mpi_tests[] = {
    ROUNDTRIP_TEST, STREAM_TEST, ALLTOALL_TESTS, BARRIER_TESTS, BROADCAST_TESTS, REDUCE_TESTS, ALLREDUCE_TESTS,
    GATHER_TESTS,   SCATTER_TESTS, {.name = NULL},
};

const struct kit_test *const kit_tables[] = {mpi_tests, NULL};
