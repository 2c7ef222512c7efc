/* More processes while the session runs. What is spawned is this program with an argument. */
#include "check.h"
#include <stdatomic.h>

/* Processes that rank 0, or a child, has been told of, and those that have left. */
static atomic_uint joined, left;

static void follow(void *context, panda_rank rank, panda_peer_event event, const char *why)
{
    (void)context, (void)rank, (void)why;
    if (event == PANDA_PEER_JOINED)
        joined++;
    else if (event == PANDA_PEER_LEFT)
        left++;
}

static bool have_joined(void *count)
{
    return joined >= *(uint32_t *)count;
}

static bool have_left(void *count)
{
    return left >= *(uint32_t *)count;
}

int main(int count, char **arguments)
{
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    panda_arrived arrived;
    OK(panda_session_join(&session));
    OK(panda_port_open(session, "greetings", &port));
    /* All founders and both children, without this process. */
    uint32_t others = panda_session_size(session) + 1, children = 2;
    if (count > 1 || panda_session_rank(session) == 0)
        OK(panda_session_on_peer(session, follow, NULL, NULL));
    if (count > 1) {
        CHECK(strcmp(arguments[1], "a child's argument") == 0 && panda_session_rank(session) >= panda_session_size(session));
        CHECK(panda_session_parent(session) == 0);
        OK(panda_session_wait_until(session, have_joined, &others, PANDA_FOREVER));
        OK(panda_port_send_synchronously(port, 0, panda_session_rank(session), text_message("hello")));
    } else if (panda_session_rank(session) == 0) {
        CHECK(panda_session_parent(session) == PANDA_ANY && panda_session_parent(NULL) == PANDA_ANY);
        const char *given[] = {"a child's argument", NULL};
        panda_rank ranks[2] = {99, 99}, size = panda_session_size(session);
        OK(panda_session_spawn(session, arguments[0], given, 2, ranks));
        CHECK(ranks[0] == size && ranks[1] == size + 1);
        CHECK(panda_session_population(session) == size + 2);
        for (int child = 0; child < 2; child++) {
            OK(panda_port_receive(port, ranks[child], ranks[child], PANDA_FOREVER, &arrived));
            CHECK(holds_text(arrived.message, "hello"));
            panda_message_free(arrived.message);
        }
        OK(panda_session_wait_until(session, have_left, &children, PANDA_FOREVER));
        CHECK(joined == others && left == children);
        IS(PANDA_NOT_SPAWNED, panda_session_spawn(session, "/no/such/program", NULL, 1, ranks));
        SAYS("/no/such/program");
        IS(PANDA_BAD_ARGUMENT, panda_session_spawn(session, NULL, NULL, 1, ranks));
    }
    /* Those that come meet all that began the session, so nobody leaves before. */
    if (count == 1) {
        OK(panda_comm_everyone(session, &all));
        OK(panda_comm_barrier(all));
        panda_comm_free(all);
    }
    panda_port_free(port);
    panda_session_free(session);
    return 0;
}
