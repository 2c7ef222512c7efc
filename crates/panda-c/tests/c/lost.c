/* Rank 1 is killed. Processes that wait for it get an error with its rank. */
#include "check.h"
#include <signal.h>

int main(void)
{
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    panda_arrived arrived;
    char why[200], cut[5];
    OK(panda_session_join(&session));
    OK(panda_comm_everyone(session, &all));
    OK(panda_port_open(session, "ball", &port));
    OK(panda_comm_barrier(all));
    if (panda_session_rank(session) == 1)
        raise(SIGKILL);
    IS(PANDA_LOST, panda_port_receive(port, 1, PANDA_ANY, PANDA_FOREVER, &arrived));
    CHECK(panda_last_rank() == 1);
    SAYS("is lost");
    size_t length = panda_session_why_lost(session, 1, why, sizeof why);
    CHECK(length > 5 && strlen(why) == length && strstr(panda_last_error(), why) != NULL);
    CHECK(panda_session_why_lost(session, 1, cut, sizeof cut) == length && strlen(cut) == 4);
    IS(PANDA_LOST, panda_session_call(session, 1, "any", panda_message_new(), PANDA_FOREVER, NULL));
    IS(PANDA_LOST, panda_comm_barrier(all));
    CHECK(panda_last_rank() == 1);
    panda_port_free(port);
    panda_comm_free(all);
    panda_session_free(session);
    puts("told");
    return 0;
}
