/* The leader's side: starts the members before the first test that needs them, and has them run each slice with it. */
#include "channel.h"
#include "tests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define START_LIMIT_NS UINT64_C(15000000000)

static int channels[MEMBERS_MOST]; /* by rank; the leader's own is not used */
static bool opened;
static struct turn turn;
static bool under_way; /* the members were told of the turn and have not answered yet */
static uint64_t switches_before;

static void order_member(unsigned rank, const struct order *order)
{
    if (!channel_send(channels[rank], order, sizeof *order))
        member_fail("member %u takes no orders: %s", rank, strerror(errno));
}

static void order_members(const struct order *order, unsigned members)
{
    for (unsigned rank = 1; rank < members; rank++)
        order_member(rank, order);
}

static void hear_member(unsigned rank, struct answer *answer)
{
    if (!channel_receive(channels[rank], answer, sizeof *answer))
        member_fail("member %u does not answer: %s", rank, strerror(errno));
}

static void hear_members(unsigned members)
{
    struct answer answer;
    for (unsigned rank = 1; rank < members; rank++)
        hear_member(rank, &answer);
}

/* The start ------------------------------------------------------------------------------------------------------------ */

static void reach(const char *name, unsigned rank)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    uint64_t limit_ns = kit_now() + START_LIMIT_NS;
    while ((channels[rank] = channel_connect(name, rank)) < 0) {
        if (kit_now() > limit_ns)
            member_fail("member %u did not start within %d s; is the machine very busy?", rank,
                        (int)(START_LIMIT_NS / 1000000000));
        nanosleep(&pause, NULL);
    }
}

static void close_members(void)
{
    struct order order = {.verb = CLOSE};
    channel_watch_ends();
    order_members(&order, MEMBERS_MOST);
    system_close(0);
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++)
        channel_part(channels[rank]); /* who finds itself left alone would take it for a failure */
    system_stop_members();
}

static void open_members(void)
{
    struct order order = {.verb = OPEN, .processor = kit_partner_processor()};
    struct answer answer;
    char name[NAME_BYTES];
    system_start_members(name);
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++)
        reach(name, rank);
    channel_watch(channels + 1, MEMBERS_MOST - 1);
    order_members(&order, MEMBERS_MOST);
    system_open(0, order.address[0]);
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++) {
        hear_member(rank, &answer);
        memcpy(order.address[rank], answer.address, ADDRESS_BYTES);
    }
    order.verb = MEET;
    order_members(&order, MEMBERS_MOST);
    system_meet(0, order.address);
    hear_members(MEMBERS_MOST);
    atexit(close_members);
    opened = true;
}

void members_prepare(uint64_t argument)
{
    (void)argument;
    if (!opened)
        open_members();
}

/* Slices --------------------------------------------------------------------------------------------------------------- */

static unsigned processors_of(unsigned members)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (kit_partners_elsewhere())
        return 2;
    if (kit_partner_processor() >= 0)
        return 1;
    return online > 0 ? (unsigned)online : members;
}

void members_begin(const void *context, uint64_t argument, uint64_t operations)
{
    const struct members_test *test = context;
    if (argument > BYTES_MOST)
        kit_fail("a message has at most %llu bytes", (unsigned long long)BYTES_MOST);
    bool adds = test->operation == REDUCE || test->operation == ALLREDUCE;
    if (adds && (argument == 0 || argument % sizeof(int64_t) != 0))
        kit_fail("a reduction adds numbers of 8 bytes: give a multiple of 8");
    members_prepare(argument);
    turn = (struct turn){.operation = test->operation, .members = test->members, .bytes = argument,
                         .iterations = operations, .processors = processors_of(test->members)};
    if (!buffers_fit(&turn))
        kit_fail("no storage for messages of %zu bytes", turn.bytes);
    struct order order = {.verb = RUN, .reports = kit_reporting(), .turn = turn};
    for (order.turn.rank = 1; order.turn.rank < turn.members; order.turn.rank++)
        order_member(order.turn.rank, &order);
    under_way = true;
    system_prepare(&turn);
    hear_members(turn.members);
    switches_before = system_switches();
}

/* The members know the iterations since members_begin. */
uint64_t members_frame(uint64_t iterations)
{
    (void)iterations;
    system_release(&turn);
    return system_confirm(&turn, system_loops[turn.operation](&turn));
}

uint64_t members_control(uint64_t iterations)
{
    uint64_t sum = 0;
    system_release(&turn);
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += i;
    return system_confirm(&turn, sum);
}

void members_reset(void)
{
    struct answer answer;
    if (!under_way)
        return;
    kit_add_switches(system_switches() - switches_before);
    system_settle(&turn);
    for (unsigned rank = 1; rank < turn.members; rank++) {
        hear_member(rank, &answer);
        kit_add_switches(answer.switches);
        if (answer.report.count > 0)
            kit_add_report(&answer.report);
    }
    under_way = false;
}
