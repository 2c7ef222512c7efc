/* Collective operations. */
#include "check.h"

static void add(void *context, void *into, const void *other, size_t length)
{
    uint64_t *sums = into;
    const uint64_t *numbers = other;
    CHECK(length % sizeof *sums == 0 && (uintptr_t)into % 16 == 0 && (uintptr_t)other % 16 == 0);
    for (size_t at = 0; at < length / sizeof *sums; at++)
        sums[at] += numbers[at];
    ++*(unsigned *)context;
}

static void all_operations(panda_comm *communicator, panda_rank rank, uint32_t size, const panda_rank *order)
{
    unsigned combined = 0;
    panda_message *message, *messages[16];
    OK(panda_comm_barrier(communicator));
    panda_rank root = order[size - 1];
    OK(panda_comm_broadcast(communicator, root, rank == root ? text_message("all hear") : NULL, &message));
    CHECK(holds_text(message, "all hear"));
    panda_message_free(message);

    OK(panda_comm_gather(communicator, root, number_message(rank * 3), rank == root ? messages : NULL));
    for (uint32_t at = 0; rank == root && at < size; at++)
        CHECK(number_of(messages[at]) == order[at] * 3);

    for (uint32_t at = 0; rank == root && at < size; at++)
        messages[at] = number_message(order[at] * 5);
    OK(panda_comm_scatter(communicator, root, rank == root ? messages : NULL, &message));
    CHECK(number_of(message) == rank * 5);

    uint64_t numbers[300], expected = (uint64_t)size * (size - 1) / 2;
    for (int at = 0; at < 300; at++)
        numbers[at] = rank + (uint64_t)at;
    OK(panda_comm_reduce(communicator, root, panda_message_of(numbers, sizeof numbers), add, &combined,
                           rank == root ? &message : NULL));
    if (rank == root) {
        uint64_t sums[300];
        OK(panda_message_pop(message, sums, sizeof sums));
        for (uint64_t at = 0; at < 300; at++)
            CHECK(sums[at] == expected + size * at);
        panda_message_free(message);
    }
    OK(panda_comm_all_reduce(communicator, panda_message_of(numbers, 8), add, &combined, &message));
    uint64_t sum;
    OK(panda_message_pop(message, &sum, sizeof sum));
    CHECK(sum == expected && panda_message_length(message) == 0);
    panda_message_free(message);
}

/* Short arrays and long ones, of all kinds of numbers. */
static void arrays(panda_comm *communicator, panda_rank rank, uint32_t size, panda_rank root)
{
    static const size_t counts[] = {0, 1, 7, 40001};
    static double sums[40001];
    static uint16_t bits[40001];
    for (int turn = 0; turn < 4; turn++) {
        size_t count = counts[turn];
        for (size_t at = 0; at < count; at++) {
            sums[at] = 0.1 * rank + (double)at;
            bits[at] = (uint16_t)((1u << rank) | at << 8);
        }
        OK(panda_comm_all_reduce_numbers(communicator, sums, count, PANDA_DOUBLE, PANDA_SUM));
        OK(panda_comm_reduce_numbers(communicator, root, bits, count, PANDA_UINT16, PANDA_OR));
        for (size_t at = 0; at < count; at++) {
            double difference = sums[at] - (0.05 * size * (size - 1) + (double)size * (double)at);
            CHECK(difference < 1e-6 && difference > -1e-6);
            CHECK(rank != root || bits[at] == (uint16_t)(((1u << size) - 1) | at << 8));
        }
        /* All have the same bits. */
        uint64_t sum = 0, all;
        for (size_t at = 0; at < count; at++) {
            uint64_t of;
            memcpy(&of, &sums[at], sizeof of);
            sum = sum * 31 + of;
        }
        all = sum;
        OK(panda_comm_all_reduce_numbers(communicator, &all, 1, PANDA_UINT64, PANDA_LEAST));
        CHECK(all == sum);
    }
    int32_t four[4] = {1, 2, 3, 4};
    IS(PANDA_MISMATCH, panda_comm_all_reduce_numbers(communicator, four, rank == 0 ? 4 : 3, PANDA_INT32, PANDA_SUM));
    SAYS("numbers where rank");
    CHECK(panda_last_rank() < size);
    IS(PANDA_BAD_ARGUMENT, panda_comm_all_reduce_numbers(communicator, four, 4, PANDA_FLOAT, PANDA_XOR));
    SAYS("exclusive or");
    IS(PANDA_BAD_ARGUMENT, panda_comm_all_reduce_numbers(communicator, four, 4, 0, PANDA_SUM));
    SAYS("is no type of numbers");
    IS(PANDA_BAD_ARGUMENT, panda_comm_all_reduce_numbers(communicator, four, 4, PANDA_INT32, 8));
    SAYS("is no operation");
    IS(PANDA_BAD_ARGUMENT, panda_comm_reduce_numbers(communicator, root, NULL, 4, PANDA_INT32, PANDA_SUM));
    SAYS("numbers is NULL");
    IS(PANDA_BAD_ARGUMENT, panda_comm_reduce_numbers(communicator, root, (char *)four + 1, 1, PANDA_INT32, PANDA_SUM));
    SAYS("aligned");
    IS(PANDA_NOT_IN_COMM, panda_comm_reduce_numbers(communicator, 1000, four, 4, PANDA_INT32, PANDA_SUM));
    OK(panda_comm_barrier(communicator));
}

int main(void)
{
    panda_session *session;
    panda_comm *communicator, *none = NULL;
    panda_message *message = NULL;
    panda_rank order[16], back[16];
    unsigned combined = 0;
    OK(panda_session_join(&session));
    uint32_t size = panda_session_size(session);
    panda_rank rank = panda_session_rank(session);
    for (uint32_t at = 0; at < size; at++)
        order[at] = at;
    OK(panda_comm_everyone(session, &communicator));
    CHECK(panda_comm_ranks(communicator, back, 16) == size && memcmp(order, back, size * sizeof *order) == 0);
    all_operations(communicator, rank, size, order);

    /* A communicator with another order and a name. */
    for (uint32_t at = 0; at < size; at++)
        order[at] = size - 1 - at;
    panda_comm *named;
    OK(panda_comm_of(session, "backwards", order, size, &named));
    all_operations(named, rank, size, order);
    panda_comm_free(named);

    arrays(communicator, rank, size, size - 1);

    /* Values of different lengths are an error at all processes. */
    uint64_t two[2] = {1, 2};
    IS(PANDA_PANICKED, panda_comm_all_reduce(communicator, panda_message_of(two, rank == 0 ? 16 : 8), add, &combined, &message));
    SAYS("all processes give as many");
    CHECK(panda_last_rank() < size && message == NULL);

    panda_rank others[2] = {(rank + 1) % size, (rank + 1) % size}, twice[2] = {rank, rank}, far[2] = {rank, 1000};
    IS(PANDA_NOT_IN_COMM, panda_comm_of(session, NULL, others, 1, &none));
    IS(PANDA_TWICE_IN_COMM, panda_comm_of(session, NULL, twice, 2, &none));
    CHECK(panda_last_rank() == rank);
    IS(PANDA_NO_SUCH_RANK, panda_comm_of(session, NULL, far, 2, &none));
    IS(PANDA_BAD_ARGUMENT, panda_comm_of(session, NULL, NULL, 2, &none));
    SAYS("ranks is NULL");
    IS(PANDA_NOT_IN_COMM, panda_comm_broadcast(communicator, 1000, NULL, &message));
    IS(PANDA_BAD_ARGUMENT, panda_comm_reduce(communicator, 0, panda_message_new(), NULL, NULL, &message));
    CHECK(none == NULL && message == NULL);

    /* One process calls something else. It gets an error, or the processes that wait for it do. A process that gets the root's value from others succeeds. */
    OK(panda_comm_of(session, "apart", order, size, &named));
    panda_status status = rank == 0 ? panda_comm_barrier(named) : panda_comm_broadcast(named, 1, NULL, &message);
    CHECK(status == PANDA_MISMATCH || (status == PANDA_OK && rank != 0));
    if (status == PANDA_OK)
        panda_message_free(message);
    panda_comm_free(named);
    OK(panda_comm_barrier(communicator));
    panda_comm_free(communicator);
    panda_session_free(session);
    return 0;
}
