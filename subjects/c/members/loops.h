/* The operations that are nothing but messages from one member to another. A system's file includes this after its own
 *
 *     static void send_to(const struct turn *turn, unsigned rank, const void *message, size_t bytes);
 *     static void receive_from(const struct turn *turn, unsigned rank, void *message, size_t bytes);
 *
 * so that the compiler has both before it in one unit, as in a program written for that system.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "members.h"

void system_release(const struct turn *turn)
{
    if (turn->rank != 0)
        receive_from(turn, 0, NULL, 0);
    else
        for (unsigned rank = 1; rank < turn->members; rank++)
            send_to(turn, rank, NULL, 0);
}

uint64_t system_confirm(const struct turn *turn, uint64_t received)
{
    uint64_t told, sum = received;
    if (turn->rank != 0)
        send_to(turn, 0, &received, sizeof received);
    for (unsigned rank = 1; turn->rank == 0 && rank < turn->members; rank++) {
        receive_from(turn, rank, &told, sizeof told);
        sum += told;
    }
    return sum;
}

static uint64_t roundtrip(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(out, turn->bytes, i);
            send_to(turn, 1, out, turn->bytes);
            receive_from(turn, 1, in, turn->bytes);
            sum += i + message_stamp(in, turn->bytes);
        } else {
            receive_from(turn, 0, in, turn->bytes);
            send_to(turn, 0, in, turn->bytes);
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
            send_to(turn, 1, out, turn->bytes);
        } else {
            receive_from(turn, 0, in, turn->bytes);
            received += i + message_stamp(in, turn->bytes);
        }
    }
    return received;
}

/* For systems that have no such operation: each sends to all others and then receives. What a member has for itself it counts
 * as received. */
static inline uint64_t exchange(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        for (unsigned to = 0; to < turn->members; to++) {
            stamp_message(out + to * turn->bytes, turn->bytes, i);
            if (to != turn->rank)
                send_to(turn, to, out + to * turn->bytes, turn->bytes);
        }
        for (unsigned from = 0; from < turn->members; from++) {
            if (from != turn->rank)
                receive_from(turn, from, in + from * turn->bytes, turn->bytes);
            sum += i + message_stamp((from == turn->rank ? out : in) + from * turn->bytes, turn->bytes);
        }
    }
    return sum;
}

#endif
