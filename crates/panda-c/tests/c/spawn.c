/* More processes while the session runs. What is spawned is this program with an argument. */
#include "check.h"

int main(int count, char **arguments)
{
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    panda_arrived arrived;
    OK(panda_session_join(&session));
    OK(panda_port_open(session, "greetings", &port));
    if (count > 1) {
        CHECK(strcmp(arguments[1], "a child's argument") == 0 && panda_session_rank(session) >= panda_session_size(session));
        CHECK(panda_session_parent(session) == 0);
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
