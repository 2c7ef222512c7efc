/* Three parts of one process, a thread each. This program also runs under a memory checker. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 3, ROUNDS = 100 };

static panda_session *sessions[SIZE];
static atomic_uint events, releases;

static void release(void *context)
{
    (void)context;
    releases++;
}

static void release_buffer(void *buffer)
{
    free(buffer);
    releases++;
}

static void echo(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    (void)context;
    uint32_t number;
    OK(panda_message_look(arguments, &number, sizeof number));
    if (number % 10 == 0)
        return;
    panda_message *kept = panda_message_take(arguments);
    OK(panda_message_push(kept, &from, sizeof from));
    OK(panda_reply_send(number % 2 ? reply : panda_reply_keep(reply), kept));
}

static void follow(void *context, const panda_event *event)
{
    (void)context;
    if (event->kind == PANDA_EVENT_MESSAGE) {
        if (event->place % 2)
            panda_message_free(panda_message_take(event->message));
        events++;
    }
}

static void add(void *context, void *into, const void *other, size_t length)
{
    (void)context;
    CHECK(length == sizeof(uint32_t));
    *(uint32_t *)into += *(const uint32_t *)other;
}

static bool all_came(void *context)
{
    (void)context;
    return events == SIZE * SIZE * ROUNDS;
}

/* FNV-1a gives both of these names the same number. */
static const char *const pair[2] = {"8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ"};

static void same_numbers(panda_session *session)
{
    panda_port *first, *second = NULL;
    panda_group *group = NULL;
    unsigned before = releases;
    OK(panda_port_open(session, pair[0], &first));
    IS(PANDA_SAME_NUMBER, panda_port_open(session, pair[1], &second));
    SAYS(pair[0]);
    SAYS(pair[1]);
    OK(panda_session_serve(session, pair[0], echo, NULL, NULL));
    IS(PANDA_SAME_NUMBER, panda_session_serve(session, pair[1], echo, NULL, release));
    OK(panda_group_join(session, pair[0], follow, NULL, NULL, &group));
    panda_group_free(group);
    group = NULL;
    IS(PANDA_SAME_NUMBER, panda_group_join(session, pair[1], follow, NULL, release, &group));
    CHECK(second == NULL && group == NULL && releases == before + 2);
    releases = before;
    panda_port_free(first);
}

static void *part(void *own)
{
    panda_session *session = own;
    panda_rank rank = panda_session_rank(session), next = (rank + 1) % SIZE;
    panda_comm *all;
    panda_port *port;
    panda_group *group;
    panda_message *reply;
    panda_arrived arrived;
    CHECK(strcmp(panda_session_platform(session), "local") == 0);
    OK(panda_comm_everyone(session, &all));
    OK(panda_port_open(session, "ring", &port));
    OK(panda_session_serve(session, "echo", echo, NULL, release));
    OK(panda_group_join(session, "group", follow, NULL, release, &group));
    OK(panda_comm_barrier(all));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        panda_message *message = number_message(round);
        uint32_t *behind = malloc(200 * sizeof *behind);
        for (uint32_t at = 0; at < 200; at++)
            behind[at] = at;
        OK(panda_message_append_buffer(message, behind, 200 * sizeof *behind, release_buffer, behind));
        OK(panda_port_send(port, next, round, message));
        OK(panda_port_receive(port, PANDA_ANY, round, PANDA_FOREVER, &arrived));
        CHECK(panda_message_length(arrived.message) == 804);
        panda_message_free(arrived.message);
        panda_status expected = round % 10 ? PANDA_OK : PANDA_NO_REPLY;
        IS(expected, panda_session_call(session, next, "echo", number_message(round), PANDA_FOREVER, &reply));
        if (expected == PANDA_OK)
            panda_message_free(reply);
        OK(panda_group_send(group, number_message(round)));
        OK(panda_comm_all_reduce(all, number_message(round), add, NULL, &reply));
        CHECK(number_of(reply) == SIZE * round);
    }
    OK(panda_session_wait_until(session, all_came, NULL, PANDA_FOREVER));
    OK(panda_comm_barrier(all));
    OK(panda_group_leave(group));
    /* Messages that are unread or kept at the end are freed. */
    OK(panda_port_send(port, next, 0, text_message("unread")));
    OK(panda_comm_barrier(all));
    panda_comm_free(all);
    panda_port_free(port);
    panda_group_free(group);
    panda_session_free(session);
    return NULL;
}

int main(void)
{
    pthread_t threads[SIZE];
    IS(PANDA_BAD_ARGUMENT, panda_session_local(SIZE, NULL));
    OK(panda_session_local(SIZE, sessions));
    same_numbers(sessions[0]);
    for (int rank = 0; rank < SIZE; rank++) {
        CHECK(panda_session_rank(sessions[rank]) == (panda_rank)rank);
        CHECK(pthread_create(&threads[rank], NULL, part, sessions[rank]) == 0);
    }
    for (int rank = 0; rank < SIZE; rank++)
        CHECK(pthread_join(threads[rank], NULL) == 0);
    /* A service and a group each, and all buffers. */
    CHECK(releases == SIZE * 2 + SIZE * ROUNDS);
    return 0;
}
