/* Rank 0 follows its peers. Rank 1 leaves; rank 2 leaves, too, or is killed: `peers leave|kill`. */
#include "check.h"
#include <signal.h>
#include <stdatomic.h>

enum { SIZE = 3 };

static atomic_uint joined[SIZE], left[SIZE], lost[SIZE], releases;

static void follow(void *context, panda_rank rank, panda_peer_event event, const char *why)
{
    CHECK(context == &releases && rank > 0 && rank < SIZE);
    CHECK((event == PANDA_PEER_LOST) == (why != NULL));
    switch (event) {
    case PANDA_PEER_JOINED:
        CHECK(joined[rank] == left[rank] + lost[rank]);
        joined[rank]++;
        return;
    case PANDA_PEER_LOST:
        CHECK(strlen(why) > 5);
        lost[rank]++;
        break;
    case PANDA_PEER_LEFT:
        left[rank]++;
    }
    CHECK(joined[rank] == left[rank] + lost[rank]);
}

static void release(void *context)
{
    CHECK(context == &releases);
    releases++;
}

static bool are_there(void *context)
{
    (void)context;
    return joined[1] == 1 && joined[2] == 1;
}

static bool are_gone(void *context)
{
    (void)context;
    return left[1] == 1 && left[2] + lost[2] == 1;
}

int main(int count, char **arguments)
{
    panda_session *session;
    panda_comm *all;
    CHECK(count == 2);
    bool kills = strcmp(arguments[1], "kill") == 0;
    OK(panda_session_join(&session));
    OK(panda_comm_everyone(session, &all));
    panda_rank rank = panda_session_rank(session);
    if (rank == 0) {
        OK(panda_session_on_peer(session, follow, &releases, release));
        IS(PANDA_BAD_ARGUMENT, panda_session_on_peer(session, NULL, &releases, release));
        SAYS("panda_session_on_peer: upcall is NULL");
        IS(PANDA_BAD_ARGUMENT, panda_session_on_peer(NULL, follow, &releases, release));
        CHECK(releases == 2);
        OK(panda_session_wait_until(session, are_there, NULL, PANDA_FOREVER));
    }
    OK(panda_comm_barrier(all));
    if (rank == 2 && kills)
        raise(SIGKILL);
    if (rank == 0) {
        OK(panda_session_wait_until(session, are_gone, NULL, PANDA_FOREVER));
        CHECK(lost[2] == (kills ? 1 : 0));
    }
    panda_comm_free(all);
    panda_session_free(session);
    CHECK(rank != 0 || releases == 3);
    return 0;
}
