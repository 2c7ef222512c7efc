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

static void send_to(void *socket, const void *message, size_t bytes)
{
    while (zmq_send(socket, message, bytes, 0) < 0)
        if (errno != EINTR)
            member_fail("a message cannot be sent: %s", zmq_strerror(errno));
}

static void receive_from(void *socket, void *message, size_t bytes)
{
    int got;
    while ((got = zmq_recv(socket, message, bytes, 0)) < 0)
        if (errno != EINTR)
            member_fail("a message cannot be received: %s", zmq_strerror(errno));
    if ((size_t)got != bytes)
        member_fail("a message of %d bytes came, where %zu were due", got, bytes);
}

/* An empty message to each of the others, or from each. */
static void call_all(const struct turn *turn)
{
    for (unsigned rank = 1; rank < turn->members; rank++)
        send_to(sockets.pair[rank], NULL, 0);
}

static void hear_all(const struct turn *turn)
{
    for (unsigned rank = 1; rank < turn->members; rank++)
        receive_from(sockets.pair[rank], NULL, 0);
}

void system_release(const struct turn *turn)
{
    if (turn->rank == 0)
        call_all(turn);
    else
        receive_from(sockets.pair[0], NULL, 0);
}

uint64_t system_confirm(const struct turn *turn, uint64_t received)
{
    uint64_t told, sum = received;
    if (turn->rank != 0)
        send_to(sockets.pair[0], &received, sizeof received);
    for (unsigned rank = 1; turn->rank == 0 && rank < turn->members; rank++) {
        receive_from(sockets.pair[rank], &told, sizeof told);
        sum += told;
    }
    return sum;
}

/* Two members ---------------------------------------------------------------------------------------------------------- */

static uint64_t roundtrip(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    void *peer = sockets.pair[1 - turn->rank];
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(out, turn->bytes, i);
            send_to(peer, out, turn->bytes);
            receive_from(peer, in, turn->bytes);
            sum += i + message_stamp(in, turn->bytes);
        } else {
            receive_from(peer, in, turn->bytes);
            send_to(peer, in, turn->bytes);
        }
    }
    return sum;
}

static uint64_t rpc(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(out, turn->bytes, i);
            send_to(sockets.rpc, out, turn->bytes);
            receive_from(sockets.rpc, NULL, 0);
        } else {
            receive_from(sockets.rpc, in, turn->bytes);
            sum += i + message_stamp(in, turn->bytes);
            send_to(sockets.rpc, NULL, 0);
        }
    }
    return sum;
}

static uint64_t stream(const struct turn *turn)
{
    uint64_t received = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(out, turn->bytes, i);
            send_to(sockets.pair[1], out, turn->bytes);
        } else {
            receive_from(sockets.pair[0], in, turn->bytes);
            received += i + message_stamp(in, turn->bytes);
        }
    }
    return received;
}

/* All members ---------------------------------------------------------------------------------------------------------- */

static uint64_t alltoall(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        for (unsigned to = 0; to < turn->members; to++) {
            stamp_message(out + to * turn->bytes, turn->bytes, i);
            if (to != turn->rank)
                send_to(sockets.pair[to], out + to * turn->bytes, turn->bytes);
        }
        for (unsigned from = 0; from < turn->members; from++) {
            if (from != turn->rank)
                receive_from(sockets.pair[from], in + from * turn->bytes, turn->bytes);
            sum += i + message_stamp((from == turn->rank ? out : in) + from * turn->bytes, turn->bytes);
        }
    }
    return sum;
}

/* ZeroMQ has none of its own: all report to the leader, and go on when it says so. */
static uint64_t barrier(const struct turn *turn)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            hear_all(turn);
            call_all(turn);
        } else {
            send_to(sockets.pair[0], NULL, 0);
            receive_from(sockets.pair[0], NULL, 0);
        }
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
            send_to(channel, message, turn->bytes);
        } else {
            receive_from(channel, message, turn->bytes);
        }
        received += i + message_stamp(message, turn->bytes);
    }
    return received;
}

member_loop *const system_loops[OPERATIONS] = {
    [ROUNDTRIP] = roundtrip, [RPC] = rpc,         [STREAM] = stream,
    [ALLTOALL] = alltoall,   [BARRIER] = barrier, [BROADCAST] = broadcast,
};
