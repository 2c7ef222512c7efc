/* Groups: all members see the same messages and views in the same order. */
#include "check.h"
#include <stdatomic.h>

enum { EACH = 50 };

/* The events that the upcall has seen. */
static struct {
    atomic_uint messages, members, lefts;
    uint64_t trace, last_place;
} seen;
static atomic_uint releases;

/* Messages and views have consecutive places. */
static void follows(uint64_t place)
{
    CHECK(seen.last_place == 0 || place == seen.last_place + 1);
    seen.last_place = place;
}

static void follow(void *context, const panda_event *event)
{
    CHECK(context == &seen);
    switch (event->kind) {
    case PANDA_EVENT_MESSAGE: {
        uint32_t number;
        OK(panda_message_pop(event->message, &number, sizeof number));
        follows(event->place);
        seen.trace = seen.trace * 31 + event->from * 1000 + number;
        seen.messages++;
        break;
    }
    case PANDA_EVENT_VIEW:
        CHECK(event->members.count >= 1 && event->view >= 1);
        follows(event->place);
        CHECK((event->joined.count == 0) == (event->joined.ranks == NULL));
        seen.members = (unsigned)event->members.count;
        break;
    case PANDA_EVENT_LEFT:
        CHECK(event->message == NULL && event->why == NULL && event->place == 0);
        seen.lefts++;
        break;
    case PANDA_EVENT_EXPELLED:
        fprintf(stderr, "expelled: %s\n", event->why);
        CHECK(!"expelled");
    }
}

static void release(void *context)
{
    CHECK(context == &seen);
    releases++;
}

static bool are_there(void *size)
{
    return seen.members == *(uint32_t *)size;
}

static bool all_came(void *count)
{
    return seen.messages == *(uint32_t *)count;
}

int main(void)
{
    panda_session *session;
    panda_comm *all, *members, *some;
    panda_group *group, *again = NULL;
    panda_message *sum, *traces[16];
    panda_rank ranks[16];
    panda_detect_waiting_upcalls(false);
    OK(panda_session_join(&session));
    uint32_t size = panda_session_size(session), count = size * EACH;
    panda_rank rank = panda_session_rank(session);
    OK(panda_comm_everyone(session, &all));
    OK(panda_group_join(session, "all", follow, &seen, release, &group));
    IS(PANDA_ALREADY_MEMBER, panda_group_join(session, "all", follow, &seen, release, &again));
    CHECK(releases == 1 && again == NULL);
    OK(panda_session_wait_until(session, are_there, &size, PANDA_FOREVER));
    CHECK(panda_group_members(group, ranks, 16) == size && panda_group_members(group, NULL, 0) == size);
    OK(panda_comm_barrier(all));

    /* Only messages come until all have sent theirs, so the trace depends only on the order. */
    for (uint32_t number = 0; number < EACH; number++)
        OK(panda_group_send(group, number_message(number)));
    OK(panda_session_wait_until(session, all_came, &count, PANDA_FOREVER));
    OK(panda_comm_gather(all, 0, panda_message_of(&seen.trace, sizeof seen.trace), traces));
    for (uint32_t at = 0; rank == 0 && at < size; at++) {
        CHECK(memcmp(panda_message_flatten(traces[at]), &seen.trace, sizeof seen.trace) == 0);
        panda_message_free(traces[at]);
    }

    /* A place is the same event at all members. No process waits for fewer messages any more. */
    OK(panda_comm_barrier(all));
    uint64_t place = 0, last;
    if (rank == 1) {
        OK(panda_group_send_synchronously(group, number_message(EACH), &place));
        CHECK(panda_group_delivered(group) >= place && seen.messages == count + 1);
    }
    panda_message *told;
    OK(panda_comm_broadcast(all, 1, rank == 1 ? panda_message_of(&place, sizeof place) : NULL, &told));
    OK(panda_message_pop(told, &place, sizeof place));
    panda_message_free(told);
    OK(panda_group_wait_for(group, place, PANDA_FOREVER));
    CHECK(seen.messages == count + 1 && seen.last_place == place && panda_group_delivered(group) == place);
    OK(panda_group_wait_for(group, place - 1, 0));
    IS(PANDA_TIMED_OUT, panda_group_wait_for(group, place + 1000, 1000000));
    last = place;
    OK(panda_comm_barrier(all));

    OK(panda_comm_of_group(group, &members));
    CHECK(panda_comm_ranks(members, ranks, 16) == size);
    OK(panda_comm_broadcast(members, 0, rank == 0 ? text_message("to members") : NULL, &sum));
    CHECK(holds_text(sum, "to members"));
    panda_message_free(sum);

    /* The same processes in another order, in a separate communicator; and processes that are not members. */
    panda_rank turned[16];
    for (uint32_t at = 0; at < size; at++)
        turned[at] = ranks[size - 1 - at];
    OK(panda_comm_of_members(group, turned, size, &some));
    CHECK(panda_comm_ranks(some, ranks, 16) == size && memcmp(ranks, turned, size * sizeof *ranks) == 0);
    OK(panda_comm_broadcast(some, 0, rank == 0 ? text_message("to some") : NULL, &sum));
    CHECK(holds_text(sum, "to some"));
    panda_message_free(sum);
    OK(panda_comm_barrier(some));
    panda_comm_free(some);
    IS(PANDA_NOT_IN_COMM, panda_comm_of_members(group, NULL, 0, &some));
    IS(PANDA_NO_SUCH_RANK, panda_comm_of_members(group, &size, 1, &some));
    IS(PANDA_BAD_ARGUMENT, panda_comm_of_members(group, NULL, 1, &some));

    /* All have the message before one leaves. */
    OK(panda_comm_barrier(all));
    panda_comm_free(members);

    OK(panda_group_leave(group));
    CHECK(seen.lefts == 1 && panda_group_members(group, NULL, 0) == 0);
    IS(PANDA_NOT_MEMBER, panda_group_send(group, panda_message_new()));
    IS(PANDA_NOT_MEMBER, panda_group_send_synchronously(group, panda_message_new(), NULL));
    IS(PANDA_NOT_MEMBER, panda_group_wait_for(group, last + 1000, PANDA_FOREVER));
    OK(panda_group_wait_for(group, last, PANDA_FOREVER));
    CHECK(panda_group_delivered(NULL) == 0);
    IS(PANDA_NOT_MEMBER, panda_comm_of_group(group, &members));
    IS(PANDA_NOT_MEMBER, panda_comm_of_members(group, turned, size, &some));
    SAYS("\"all\"");
    OK(panda_comm_barrier(all));
    panda_group_free(group);
    panda_comm_free(all);
    panda_session_free(session);
    CHECK(releases == 2);
    return 0;
}
