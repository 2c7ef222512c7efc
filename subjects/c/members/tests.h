/* The rows of tests with members, the same in all systems:
 *
 *     roundtrip     a message to member 1 and one as long back, both received explicitly
 *     rpc           a request of so many bytes to member 1, and an empty reply
 *     stream        a message to member 1
 *     alltoall.N    a message from each of N members to each other one
 *     barrier.N     nobody goes on before all have come; takes no argument
 *     broadcast.N   a message from the leader to all others
 *     reduce.N      sums, in the leader, of 64-bit integers that each member has, so many bytes of them
 *     allreduce.N   the same sums in every member
 *     gather.N      so many bytes of each member, in the leader
 *     scatter.N     so many bytes for each member, from the leader
 *
 * A slice begins with the leader's word to the others and ends when the leader has heard that each is done; so does its
 * control, which has nothing in between. The cost is that of an operation in a row of them.
 */
#ifndef TESTS_H
#define TESTS_H

#include "kit.h"
#include "members.h"

/* The context of a test. */
struct members_test {
    enum operation operation;
    unsigned members;
};

kit_prepare_hook members_prepare; /* for a test of the leader alone: starts the system */
kit_begin_hook members_begin;
kit_hook members_reset;
kit_frame members_frame, members_control;

#define MEMBERS_TEST(test_name, which, count, ...)                                                                     \
    {.name = test_name, .control = members_control, .test = members_frame, .begin = members_begin,                     \
     .reset = members_reset, .threads = count, .context = &(const struct members_test){which, count}, __VA_ARGS__}

#define PAIR(test_name, which) MEMBERS_TEST(test_name, which, 2, .arg_unit = "bytes")

#define EACH_SIZE(test_name, which, ...)                                                                               \
    MEMBERS_TEST(test_name ".2", which, 2, __VA_ARGS__), MEMBERS_TEST(test_name ".3", which, 3, __VA_ARGS__),          \
    MEMBERS_TEST(test_name ".4", which, 4, __VA_ARGS__), MEMBERS_TEST(test_name ".5", which, 5, __VA_ARGS__),          \
    MEMBERS_TEST(test_name ".6", which, 6, __VA_ARGS__), MEMBERS_TEST(test_name ".7", which, 7, __VA_ARGS__),          \
    MEMBERS_TEST(test_name ".8", which, 8, __VA_ARGS__)

#define ROUNDTRIP_TEST PAIR("roundtrip", ROUNDTRIP)
#define RPC_TEST PAIR("rpc", RPC)
#define STREAM_TEST PAIR("stream", STREAM)
#define ALLTOALL_TESTS EACH_SIZE("alltoall", ALLTOALL, .arg_unit = "bytes")
#define BARRIER_TESTS EACH_SIZE("barrier", BARRIER, .arg_unit = NULL)
#define BROADCAST_TESTS EACH_SIZE("broadcast", BROADCAST, .arg_unit = "bytes")
#define REDUCE_TESTS EACH_SIZE("reduce", REDUCE, .arg_unit = "bytes")
#define ALLREDUCE_TESTS EACH_SIZE("allreduce", ALLREDUCE, .arg_unit = "bytes")
#define GATHER_TESTS EACH_SIZE("gather", GATHER, .arg_unit = "bytes")
#define SCATTER_TESTS EACH_SIZE("scatter", SCATTER, .arg_unit = "bytes")
#define ABSENT_REDUCE_TESTS(why) EACH_SIZE("reduce", REDUCE, .arg_unit = "bytes", .absent = why)

#endif
