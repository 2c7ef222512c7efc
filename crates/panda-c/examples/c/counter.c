/* A replicated counter: every process adds to it, all copies go through the same values in the same order.
 *
 *     cc -O2 -o counter counter.c $(pkg-config --cflags --libs panda)
 *     antiphon launch -n 4 --over tcp ./counter [ADDITIONS]
 */
#include "example.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* This process's copy. Only the upcall changes it. Read it only after `additions` is complete. */
struct copy {
    uint64_t value;
    uint64_t trace; /* depends on the order of additions, unlike the value */
    _Atomic uint64_t additions;
    atomic_bool has_ended; /* set when no more additions come */
    uint64_t expected;
};

/* Applies an event of the group. All members see the same order. */
static void follow(void *context, const panda_event *event)
{
    struct copy *copy = context;
    uint64_t amount;
    switch (event->kind) {
    case PANDA_EVENT_MESSAGE:
        if (panda_message_pop(event->message, &amount, sizeof amount) != PANDA_OK)
            return;
        copy->value += amount;
        copy->trace = copy->trace * 31 + event->from + amount;
        copy->additions++;
        break;
    case PANDA_EVENT_VIEW:
        if (event->left.count > 0)
            copy->has_ended = true;
        break;
    case PANDA_EVENT_EXPELLED:
        fprintf(stderr, "%s\n", event->why);
        copy->has_ended = true;
        break;
    case PANDA_EVENT_LEFT:
        break;
    }
}

static bool is_over(void *context)
{
    struct copy *copy = context;
    return copy->additions >= copy->expected || copy->has_ended;
}

int main(int count, char **arguments)
{
    static struct copy copy;
    uint64_t additions = argument(count, arguments, 1000);
    panda_session *session;
    panda_comm *all;
    panda_group *group;
    must(panda_session_join(&session));
    uint32_t size = panda_session_size(session);
    copy.expected = additions * size;
    must(panda_comm_everyone(session, &all));
    must(panda_group_join(session, "counter", follow, &copy, NULL, &group));
    must(panda_comm_barrier(all));
    for (uint64_t number = 0; number < additions; number++) {
        uint64_t amount = number % 7;
        must(panda_group_send(group, panda_message_of(&amount, sizeof amount)));
    }
    /* Drives the session until all additions have come, or cannot come any more. */
    must(panda_session_wait_until(session, is_over, &copy, PANDA_FOREVER));
    if (copy.additions < copy.expected) {
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " additions came\n", (uint64_t)copy.additions, copy.expected);
        return EXIT_FAILURE;
    }

    uint64_t own[2] = {copy.value, copy.trace};
    panda_message **copies = calloc(size, sizeof *copies);
    must(panda_comm_gather(all, 0, panda_message_of(own, sizeof own), copies));
    if (panda_session_rank(session) == 0) {
        bool is_same = true;
        for (uint32_t at = 0; at < size; at++) {
            is_same = is_same && memcmp(panda_message_flatten(copies[at]), own, sizeof own) == 0;
            panda_message_free(copies[at]);
        }
        printf("%" PRIu32 " copies, value %" PRIu64 ", %s\n", size, copy.value, is_same ? "one order" : "ORDERS DIFFER");
    }
    free(copies);
    must(panda_comm_barrier(all));
    must(panda_group_leave(group));
    panda_group_free(group);
    panda_comm_free(all);
    panda_session_free(session);
    return EXIT_SUCCESS;
}
