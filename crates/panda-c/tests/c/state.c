/* State transfer: a process that joins a group gets the members' copy, at a place of the order. */
#include "check.h"
#include <stdatomic.h>

enum { EACH = 200, BALLAST = 300000 };

/* The copy: the sum of all delivered messages. A snapshot also contains the ballast. */
static struct {
    uint64_t sum, count;
} copy;
static struct {
    uint64_t place;
    atomic_uint installs, snapshots, members;
} seen;

static void deliver(void *context, const panda_event *event)
{
    CHECK(context == &copy);
    if (event->kind == PANDA_EVENT_VIEW) {
        /* The view that holds at the place of a snapshot may be before it. */
        CHECK(seen.place == 0 || event->place == seen.place + 1 || (seen.installs == 1 && event->place <= seen.place));
        seen.members = (unsigned)event->members.count;
        seen.place = event->place > seen.place ? event->place : seen.place;
    } else if (event->kind == PANDA_EVENT_MESSAGE) {
        uint32_t number;
        CHECK(event->place == seen.place + 1);
        seen.place = event->place;
        OK(panda_message_pop(event->message, &number, sizeof number));
        copy.sum = copy.sum * 31 + number;
        copy.count++;
    }
}

static panda_message *snapshot(void *context, uint64_t place)
{
    CHECK(context == &copy && place == seen.place);
    char *ballast = calloc(1, BALLAST);
    panda_message *state = panda_message_of(ballast, BALLAST);
    free(ballast);
    OK(panda_message_push(state, &copy, sizeof copy));
    seen.snapshots++;
    return state;
}

static panda_status install(void *context, uint64_t place, panda_message *state)
{
    CHECK(context == &copy && seen.place == 0 && seen.installs == 0);
    CHECK(panda_message_length(state) == sizeof copy + BALLAST);
    OK(panda_message_pop(state, &copy, sizeof copy));
    seen.place = place;
    seen.installs = 1;
    return PANDA_OK;
}

static panda_message *refuses(void *context, uint64_t place)
{
    (void)context, (void)place;
    return NULL;
}

static void ignore(void *context, const panda_event *event)
{
    (void)context, (void)event;
}

static bool have_all_come(void *count)
{
    return copy.count == *(uint64_t *)count;
}

int main(void)
{
    panda_session *session;
    panda_comm *all;
    panda_group *group, *other = NULL;
    panda_message *copies[16];
    panda_detect_waiting_upcalls(false);
    OK(panda_session_join(&session));
    uint32_t size = panda_session_size(session);
    panda_rank rank = panda_session_rank(session);
    panda_replica replica = {deliver, snapshot, install}, mute = {ignore, refuses, install}, none = {deliver, NULL, install};
    IS(PANDA_BAD_ARGUMENT, panda_group_join_with_state(session, "copies", NULL, NULL, NULL, &group));
    IS(PANDA_BAD_ARGUMENT, panda_group_join_with_state(session, "copies", &none, NULL, NULL, &group));
    SAYS("replica->snapshot");
    OK(panda_comm_everyone(session, &all));

    /* All but the last join first. The last joins while they send. */
    if (rank + 1 < size)
        OK(panda_group_join_with_state(session, "copies", &replica, &copy, NULL, &group));
    OK(panda_comm_barrier(all));
    if (rank + 1 == size)
        OK(panda_group_join_with_state(session, "copies", &replica, &copy, NULL, &group));
    else
        for (uint32_t number = 0; number < EACH; number++)
            OK(panda_group_send_synchronously(group, number_message(number + rank), NULL));
    CHECK(rank + 1 < size || seen.installs == 1);
    CHECK(panda_group_delivered(group) >= 1);
    uint64_t count = (uint64_t)EACH * (size - 1);
    OK(panda_session_wait_until(session, have_all_come, &count, PANDA_FOREVER));
    OK(panda_comm_gather(all, 0, panda_message_of(&copy, sizeof copy), copies));
    for (uint32_t at = 0; rank == 0 && at < size; at++) {
        CHECK(memcmp(panda_message_flatten(copies[at]), &copy, sizeof copy) == 0);
        panda_message_free(copies[at]);
    }
    OK(panda_comm_barrier(all));
    OK(panda_group_leave(group));
    panda_group_free(group);

    /* No member gives a state. */
    if (rank == 0)
        OK(panda_group_join_with_state(session, "mute", &mute, NULL, NULL, &other));
    OK(panda_comm_barrier(all));
    if (rank == 1) {
        IS(PANDA_NO_STATE, panda_group_join_with_state(session, "mute", &mute, NULL, NULL, &other));
        SAYS("rank 0 made no snapshot");
    }
    OK(panda_comm_barrier(all));
    panda_group_free(other);
    panda_comm_free(all);
    panda_session_free(session);
    return 0;
}
