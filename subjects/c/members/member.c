/* A member that is not the leader: does what it is told until the leader is gone. */
#include "channel.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct member {
    int channel;
    unsigned rank;
};

/* Threads that the system starts later come along. */
static void go_to(int processor)
{
    cpu_set_t set;
    if (processor < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        member_fail("a member cannot go to processor %d: %s", processor, strerror(errno));
}

/* The leader counts those of its own threads. */
static uint64_t own_switches(void)
{
    struct rusage usage;
    if (system_members_are_threads())
        return 0;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static void answer(const struct member *member, const struct answer *answer)
{
    if (!channel_send(member->channel, answer, sizeof *answer))
        member_fail("member %u cannot answer its leader: %s", member->rank, strerror(errno));
}

static void run_turn(const struct member *member, const struct order *order)
{
    struct answer ready = {0}, done = {0};
    const struct turn *turn = &order->turn;
    if (order->reports)
        kit_read_report(&done.report, "member");
    if (!buffers_fit(turn))
        member_fail("no storage for messages of %zu bytes", turn->bytes);
    system_prepare(turn);
    done.switches = own_switches();
    answer(member, &ready);
    system_release(turn);
    system_confirm(turn, system_loops[turn->operation](turn));
    done.switches = own_switches() - done.switches;
    system_settle(turn);
    answer(member, &done);
}

/* False with the last order. */
static bool obey(const struct member *member, struct order *order)
{
    struct answer done = {0};
    switch (order->verb) {
    case RUN:
        run_turn(member, order);
        return true;
    case OPEN:
        go_to(order->processor);
        system_open(member->rank, done.address);
        break;
    case MEET:
        system_meet(member->rank, order->address);
        break;
    case CLOSE:
        channel_watch_ends();
        system_close(member->rank);
        return false;
    }
    answer(member, &done);
    return true;
}

void member_serve(const char *name, unsigned rank, int patience_ms)
{
    struct order order;
    struct member member = {.rank = rank};
    int listening = channel_listen(name, rank);
    while ((member.channel = channel_accept(listening, patience_ms)) < 0)
        continue;
    close(listening);
    if (!system_members_are_threads())
        channel_watch(&member.channel, 1);
    while (channel_receive(member.channel, &order, sizeof order) && obey(&member, &order))
        continue;
    close(member.channel);
}
