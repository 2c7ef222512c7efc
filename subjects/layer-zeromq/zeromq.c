/* What the layer suite measures, as ZeroMQ's guide would have it written. */
#include "over.h"
#include "sockets.h"

#include <errno.h>
#include <zmq.h>

/* Nothing is done between slices: what was sent is in the hands of ZeroMQ's own threads. */
void system_prepare(const struct turn *turn)
{
    (void)turn;
}

void system_settle(const struct turn *turn)
{
    (void)turn;
}

static void send_on(void *socket, const void *message, size_t bytes)
{
    while (zmq_send(socket, message, bytes, 0) < 0)
        if (errno != EINTR)
            member_fail("a message cannot be sent: %s", zmq_strerror(errno));
}

static void receive_on(void *socket, void *message, size_t bytes)
{
    int got;
    while ((got = zmq_recv(socket, message, bytes, 0)) < 0)
        if (errno != EINTR)
            member_fail("a message cannot be received: %s", zmq_strerror(errno));
    if ((size_t)got != bytes)
        member_fail("a message of %d bytes came, where %zu were due", got, bytes);
}

static void send_to(const struct turn *turn, unsigned rank, const void *message, size_t bytes)
{
    (void)turn;
    send_on(sockets.pair[rank], message, bytes);
}

static void receive_from(const struct turn *turn, unsigned rank, void *message, size_t bytes)
{
    (void)turn;
    receive_on(sockets.pair[rank], message, bytes);
}

#include "loops.h"

static uint64_t rpc(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(out, turn->bytes, i);
            send_on(sockets.rpc, out, turn->bytes);
            receive_on(sockets.rpc, NULL, 0);
        } else {
            receive_on(sockets.rpc, in, turn->bytes);
            sum += i + message_stamp(in, turn->bytes);
            send_on(sockets.rpc, NULL, 0);
        }
    }
    return sum;
}

/* All members ---------------------------------------------------------------------------------------------------------- */

/* ZeroMQ has none of its own: all report to the leader, and go on when it says so. */
static uint64_t barrier(const struct turn *turn)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < turn->iterations; i++) {
        for (unsigned rank = 1; turn->rank == 0 && rank < turn->members; rank++)
            receive_from(turn, rank, NULL, 0);
        if (turn->rank != 0)
            send_to(turn, 0, NULL, 0);
        system_release(turn);
        sum += i;
    }
    return sum;
}

static uint64_t broadcast(const struct turn *turn)
{
    uint64_t received = 0;
    unsigned char *message = outgoing();
    void *channel = sockets.broadcast[turn->members];
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(message, turn->bytes, i);
            send_on(channel, message, turn->bytes);
        } else {
            receive_on(channel, message, turn->bytes);
        }
        received += i + message_stamp(message, turn->bytes);
    }
    return received;
}

member_loop *const system_loops[OPERATIONS] = {
    [ROUNDTRIP] = roundtrip, [RPC] = rpc,         [STREAM] = stream,
    [ALLTOALL] = exchange,   [BARRIER] = barrier, [BROADCAST] = broadcast,
};
