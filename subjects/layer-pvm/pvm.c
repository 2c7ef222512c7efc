/* What the layer suite measures, as PVM programs have it. */
#include "members.h"

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 1

static int tasks[MEMBERS_MOST]; /* by rank */
static int packing = PvmDataRaw;

bool system_members_are_threads(void)
{
    return false;
}

/* Errors of PVM are negative. */
static int checked(int result, const char *call)
{
    if (result < 0)
        member_fail("%s: PVM's error %d", call, result);
    return result;
}

/* The start ------------------------------------------------------------------------------------------------------------ */

struct choice {
    const char *name;
    int value;
};

/* The variant's choice among three, or two and the first again; from the environment. The first is the usual one. */
static int chosen(const char *variable, const struct choice choices[3])
{
    const char *named = getenv(variable);
    for (int i = 0; i < 3; i++)
        if (!named || strcmp(named, choices[i].name) == 0)
            return choices[i].value;
    member_fail("%s=%s: it is %s, %s or %s", variable, named, choices[0].name, choices[1].name, choices[2].name);
}

void system_open(unsigned rank, char address[ADDRESS_BYTES])
{
    (void)rank;
    static const struct choice routes[] = {{"daemon", PvmDontRoute}, {"direct", PvmRouteDirect}, {"daemon", PvmDontRoute}};
    static const struct choice packings[] = {{"raw", PvmDataRaw}, {"in-place", PvmDataInPlace}, {"xdr", PvmDataDefault}};
    packing = chosen("LAYER_PACKING", packings);
    snprintf(address, ADDRESS_BYTES, "%d", checked(pvm_mytid(), "pvm_mytid"));
    checked(pvm_setopt(PvmRoute, chosen("LAYER_ROUTE", routes)), "pvm_setopt");
}

static char *group(unsigned members)
{
    static char name[32];
    snprintf(name, sizeof name, "first.%u", members);
    return name;
}

/* Instances are given in the order of joining, and a reduction's root is an instance: the leader comes first. Frozen groups
 * are remembered by each task, where others ask the server each time. */
void system_meet(unsigned rank, char address[][ADDRESS_BYTES])
{
    for (unsigned other = 0; other < MEMBERS_MOST; other++)
        tasks[other] = (int)strtol(address[other], NULL, 10);
    for (unsigned members = rank < 2 ? 2 : rank + 1; members <= MEMBERS_MOST; members++) {
        while (rank != 0 && pvm_gettid(group(members), 0) != tasks[0])
            continue;
        checked(pvm_joingroup(group(members)), "pvm_joingroup");
    }
    for (unsigned members = rank < 2 ? 2 : rank + 1; members <= MEMBERS_MOST; members++)
        checked(pvm_freezegroup(group(members), (int)members), "pvm_freezegroup");
}

void system_close(unsigned rank)
{
    (void)rank;
    pvm_exit();
}

/* Nothing is under way between slices but what PVM's daemon holds. What is to be added up must be small: PVM sends it in XDR's form, in which a long has 32 bits, and refuses others. */
void system_prepare(const struct turn *turn)
{
    long *numbers = (long *)(void *)outgoing();
    for (size_t i = 0; turn->operation == REDUCE && i < turn->bytes / sizeof *numbers; i++)
        numbers[i] = 1;
}

void system_settle(const struct turn *turn)
{
    (void)turn;
}

/* Messages ------------------------------------------------------------------------------------------------------------- */

/* In XDR's form whole integers are sent, which is what its conversion is for. */
static size_t integers_of(size_t bytes)
{
    return packing == PvmDataDefault ? bytes / sizeof(int) : 0;
}

static void pack(const void *message, size_t bytes)
{
    size_t integers = integers_of(bytes), before = integers * sizeof(int);
    checked(pvm_initsend(packing), "pvm_initsend");
    if (integers > 0)
        checked(pvm_pkint((int *)message, (int)integers, 1), "pvm_pkint");
    if (bytes > before)
        checked(pvm_pkbyte((char *)message + before, (int)(bytes - before), 1), "pvm_pkbyte");
}

static void unpack(void *message, size_t bytes)
{
    size_t integers = integers_of(bytes), before = integers * sizeof(int);
    if (integers > 0)
        checked(pvm_upkint(message, (int)integers, 1), "pvm_upkint");
    if (bytes > before)
        checked(pvm_upkbyte((char *)message + before, (int)(bytes - before), 1), "pvm_upkbyte");
}

static void send_to(const struct turn *turn, unsigned rank, const void *message, size_t bytes)
{
    (void)turn;
    pack(message, bytes);
    checked(pvm_send(tasks[rank], TAG), "pvm_send");
}

static void receive_from(const struct turn *turn, unsigned rank, void *message, size_t bytes)
{
    (void)turn;
    checked(pvm_recv(tasks[rank], TAG), "pvm_recv");
    unpack(message, bytes);
}

#include "loops.h"

/* All members ---------------------------------------------------------------------------------------------------------- */

static uint64_t barrier(const struct turn *turn)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < turn->iterations; i++) {
        checked(pvm_barrier(group(turn->members), (int)turn->members), "pvm_barrier");
        sum += i;
    }
    return sum;
}

static uint64_t broadcast(const struct turn *turn)
{
    uint64_t received = 0;
    unsigned char *message = outgoing();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0) {
            stamp_message(message, turn->bytes, i);
            pack(message, turn->bytes);
            checked(pvm_mcast(tasks + 1, (int)turn->members - 1, TAG), "pvm_mcast");
        } else {
            receive_from(turn, 0, message, turn->bytes);
        }
        received += i + message_stamp(message, turn->bytes);
    }
    return received;
}

/* In place: the leader's numbers become the sums. */
static uint64_t reduce(const struct turn *turn)
{
    uint64_t sum = 0;
    long *numbers = (long *)(void *)outgoing();
    int count = (int)(turn->bytes / sizeof *numbers);
    for (uint64_t i = 0; i < turn->iterations; i++) {
        numbers[0] = (long)i;
        checked(pvm_reduce(PvmSum, numbers, count, PVM_LONG, TAG + 1, group(turn->members), 0), "pvm_reduce");
        if (turn->rank == 0)
            sum += (uint64_t)numbers[0];
    }
    return sum;
}

member_loop *const system_loops[OPERATIONS] = {
    [ROUNDTRIP] = roundtrip, [STREAM] = stream,       [ALLTOALL] = exchange,
    [BARRIER] = barrier,     [BROADCAST] = broadcast, [REDUCE] = reduce,
};
