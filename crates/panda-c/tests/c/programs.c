/* Programs that a session of threads starts by their names. */
#include "check.h"
#include <stdatomic.h>

static atomic_uint runs, releases;

static void release(void *context)
{
    (void)context;
    releases++;
}

/* Sends its arguments to its parent, with the number in its context as the tag. */
static void worker(void *context, panda_session *session, const char *const *arguments)
{
    panda_port *port;
    uint32_t tag = *(const uint32_t *)context;
    OK(panda_port_open(session, "arguments", &port));
    CHECK(strcmp(panda_session_platform(session), "local") == 0);
    for (; *arguments; arguments++)
        OK(panda_port_send_synchronously(port, panda_session_parent(session), tag, text_message(*arguments)));
    panda_port_free(port);
    panda_session_free(session);
    runs++;
}

static void comes_as(panda_port *port, panda_rank from, uint32_t tag, const char *text)
{
    panda_arrived arrived;
    OK(panda_port_receive(port, from, tag, PANDA_FOREVER, &arrived));
    CHECK(holds_text(arrived.message, text));
    panda_message_free(arrived.message);
}

/* A thread that the program starts itself joins, once. */
static void takes_a_info(panda_session *session)
{
    panda_launch_info *info;
    panda_session *own, *again = NULL;
    OK(panda_session_allot(session, 1, &info));
    OK(panda_launch_info_join(info, &own));
    CHECK(panda_session_rank(own) == 5 && panda_launch_info_rank(info) == 5 && panda_session_parent(own) == 0);
    IS(PANDA_NOT_JOINED, panda_launch_info_join(info, &again));
    SAYS("rank 5");
    CHECK(again == NULL);
    IS(PANDA_BAD_ARGUMENT, panda_launch_info_join(NULL, &again));
    IS(PANDA_BAD_ARGUMENT, panda_launch_info_join(info, NULL));
    panda_session_free(own);
    panda_launch_info_free(info);
}

int main(void)
{
    static uint32_t one = 1, two = 2;
    const panda_program programs[] = {{"one", worker, &one, release}, {"two", worker, &two, release}};
    const char *arguments[] = {"first", "second", NULL};
    panda_session *sessions[2];
    panda_rank ranks[2] = {99, 99};
    panda_port *port;
    OK(panda_session_local_with(2, programs, 2, sessions));
    OK(panda_port_open(sessions[1], "arguments", &port));
    OK(panda_session_spawn(sessions[1], "one", arguments, 2, ranks));
    CHECK(ranks[0] == 2 && ranks[1] == 3);
    for (int child = 0; child < 2; child++) {
        comes_as(port, ranks[child], 1, "first");
        comes_as(port, ranks[child], 1, "second");
    }
    OK(panda_session_spawn(sessions[1], "two", arguments, 1, ranks));
    CHECK(ranks[0] == 4);
    comes_as(port, 4, 2, "first");
    comes_as(port, 4, 2, "second");
    IS(PANDA_NOT_SPAWNED, panda_session_spawn(sessions[0], "three", NULL, 1, ranks));
    SAYS("three");
    takes_a_info(sessions[0]);
    while (runs < 3)
        panda_session_poll(sessions[1]);
    panda_port_free(port);
    panda_session_free(sessions[0]);
    panda_session_free(sessions[1]);
    /* The threads of the others may still be ending. */
    while (releases < 2)
        panda_thread_yield();
    /* Every context is released, also after an error. */
    const panda_program wrong[] = {{"one", worker, &one, release}, {NULL, worker, &two, release}, {"three", NULL, &two, release}};
    IS(PANDA_BAD_ARGUMENT, panda_session_local_with(1, wrong, 3, sessions));
    SAYS("name");
    CHECK(releases == 5);
    IS(PANDA_BAD_ARGUMENT, panda_session_local_with(1, NULL, 1, sessions));
    /* Of two programs of one name the later one counts. */
    const panda_program twice[] = {{"one", worker, &one, release}, {"one", worker, &two, release}};
    OK(panda_session_local_with(1, twice, 2, sessions));
    CHECK(releases == 6);
    panda_session_free(sessions[0]);
    while (releases < 7)
        panda_thread_yield();
    return 0;
}
