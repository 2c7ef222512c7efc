/* A process that was started by hand joins the session of its user, which is named "board". */
#include "check.h"

int main(void)
{
    panda_session *session;
    panda_port *port;
    IS(PANDA_NOT_JOINED, panda_session_join_existing("bored", &session));
    SAYS("board");
    IS(PANDA_BAD_ARGUMENT, panda_session_join_existing("board", NULL));
    OK(panda_session_join_existing(NULL, &session));
    CHECK(panda_session_rank(session) == 1 && panda_session_size(session) == 1);
    CHECK(panda_session_parent(session) == PANDA_ANY);
    OK(panda_port_open(session, "greetings", &port));
    OK(panda_port_send_synchronously(port, 0, 1, text_message("hello")));
    panda_port_free(port);
    panda_session_free(session);
    return 0;
}
