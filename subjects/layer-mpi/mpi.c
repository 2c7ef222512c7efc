/* What the layer suite measures, in MPI's own words. Errors end the job, which is Open MPI's default. */
#include "members.h"

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

#define TAG 1

bool system_members_are_threads(void)
{
    return false;
}

static MPI_Comm first[MEMBERS_MOST + 1]; /* by number: a communicator of the first so many members */

static MPI_Comm members_of(const struct turn *turn)
{
    return first[turn->members];
}

/* The start ------------------------------------------------------------------------------------------------------------ */

void system_open(unsigned rank, char address[ADDRESS_BYTES])
{
    (void)rank;
    address[0] = '\0'; /* MPI's processes know one another */
    MPI_Init(NULL, NULL);
}

void system_meet(unsigned rank, char address[][ADDRESS_BYTES])
{
    (void)address;
    for (unsigned members = 2; members <= MEMBERS_MOST; members++)
        MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, (int)rank, &first[members]);
}

void system_close(unsigned rank)
{
    (void)rank;
    MPI_Finalize();
}

/* Open MPI decides once, in MPI_Init, whether a process that waits lets others run: if there are more processes than
 * processors. Here eight were started, of which most sleep, so the same is decided for those that take part. */
void system_prepare(const struct turn *turn)
{
    static void (*yield_when_idle)(bool);
    static bool looked;
    if (!looked) {
        void *found = dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle");
        memcpy(&yield_when_idle, &found, sizeof found);
        looked = true;
    }
    if (yield_when_idle)
        yield_when_idle(turn->members > turn->processors);
}

/* What was sent may still be in the library's hands, and moves only while it is called. */
void system_settle(const struct turn *turn)
{
    MPI_Barrier(members_of(turn));
}

static void send_to(const struct turn *turn, unsigned rank, const void *message, size_t bytes)
{
    MPI_Send(message, (int)bytes, MPI_BYTE, (int)rank, TAG, members_of(turn));
}

static void receive_from(const struct turn *turn, unsigned rank, void *message, size_t bytes)
{
    MPI_Recv(message, (int)bytes, MPI_BYTE, (int)rank, TAG, members_of(turn), MPI_STATUS_IGNORE);
}

#include "loops.h"

/* All members ---------------------------------------------------------------------------------------------------------- */

static uint64_t alltoall(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *out = outgoing(), *in = incoming();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        for (unsigned to = 0; to < turn->members; to++)
            stamp_message(out + to * turn->bytes, turn->bytes, i);
        MPI_Alltoall(out, (int)turn->bytes, MPI_BYTE, in, (int)turn->bytes, MPI_BYTE, members_of(turn));
        for (unsigned from = 0; from < turn->members; from++)
            sum += i + message_stamp(in + from * turn->bytes, turn->bytes);
    }
    return sum;
}

static uint64_t barrier(const struct turn *turn)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < turn->iterations; i++) {
        MPI_Barrier(members_of(turn));
        sum += i;
    }
    return sum;
}

static uint64_t broadcast(const struct turn *turn)
{
    uint64_t received = 0;
    unsigned char *message = outgoing();
    for (uint64_t i = 0; i < turn->iterations; i++) {
        if (turn->rank == 0)
            stamp_message(message, turn->bytes, i);
        MPI_Bcast(message, (int)turn->bytes, MPI_BYTE, 0, members_of(turn));
        received += i + message_stamp(message, turn->bytes);
    }
    return received;
}

static uint64_t reduce(const struct turn *turn)
{
    uint64_t sum = 0;
    int64_t *own = (int64_t *)(void *)outgoing(), *result = (int64_t *)(void *)incoming();
    int count = (int)(turn->bytes / sizeof *own);
    for (uint64_t i = 0; i < turn->iterations; i++) {
        own[0] = (int64_t)i;
        MPI_Reduce(own, result, count, MPI_INT64_T, MPI_SUM, 0, members_of(turn));
        if (turn->rank == 0)
            sum += (uint64_t)result[0];
    }
    return sum;
}

static uint64_t allreduce(const struct turn *turn)
{
    uint64_t sum = 0;
    int64_t *own = (int64_t *)(void *)outgoing(), *result = (int64_t *)(void *)incoming();
    int count = (int)(turn->bytes / sizeof *own);
    for (uint64_t i = 0; i < turn->iterations; i++) {
        own[0] = (int64_t)i;
        MPI_Allreduce(own, result, count, MPI_INT64_T, MPI_SUM, members_of(turn));
        sum += (uint64_t)result[0];
    }
    return sum;
}

static uint64_t gather(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *own = outgoing(), *all = incoming();
    int bytes = (int)turn->bytes;
    for (uint64_t i = 0; i < turn->iterations; i++) {
        stamp_message(own, turn->bytes, i);
        MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, members_of(turn));
        for (unsigned from = 0; turn->rank == 0 && from < turn->members; from++)
            sum += i + message_stamp(all + from * turn->bytes, turn->bytes);
    }
    return sum;
}

static uint64_t scatter(const struct turn *turn)
{
    uint64_t sum = 0;
    unsigned char *all = outgoing(), *own = incoming();
    int bytes = (int)turn->bytes;
    for (uint64_t i = 0; i < turn->iterations; i++) {
        for (unsigned to = 0; turn->rank == 0 && to < turn->members; to++)
            stamp_message(all + to * turn->bytes, turn->bytes, i);
        MPI_Scatter(all, bytes, MPI_BYTE, own, bytes, MPI_BYTE, 0, members_of(turn));
        sum += i + message_stamp(own, turn->bytes);
    }
    return sum;
}

member_loop *const system_loops[OPERATIONS] = {
    [ROUNDTRIP] = roundtrip, [STREAM] = stream,       [ALLTOALL] = alltoall,
    [BARRIER] = barrier,     [BROADCAST] = broadcast, [REDUCE] = reduce,
    [ALLREDUCE] = allreduce, [GATHER] = gather,       [SCATTER] = scatter,
};
