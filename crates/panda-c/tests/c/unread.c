/* A part of this process sends far more than another receives, from an upcall, which is never held. */
#include "check.h"
#include <time.h>

enum { LENGTH = 1 << 20, MOST = 4 * LENGTH };

static panda_port *flood;

static void begin(void *context, panda_rank from, uint32_t tag, panda_message *message)
{
    static const char bytes[LENGTH];
    (void)context, (void)from, (void)tag, (void)message;
    /* The session may end first. */
    for (uint32_t number = 0; number < 64; number++)
        if (panda_port_send_bytes(flood, 1, number, bytes, sizeof bytes) != PANDA_OK)
            return;
}

int main(void)
{
    panda_session *sessions[2];
    panda_port *port, *start;
    panda_arrived arrived;
    panda_status status;
    uint32_t kept = 0;
    const struct timespec moment = {0, 1000000};
    OK(panda_session_local(2, sessions));
    OK(panda_session_limit_unread(sessions[1], MOST));
    OK(panda_port_open(sessions[0], "flood", &flood));
    OK(panda_port_open(sessions[1], "flood", &port));
    OK(panda_port_open(sessions[0], "start", &start));
    OK(panda_port_on_message(start, begin, NULL, NULL));
    OK(panda_port_send(start, 0, 0, panda_message_new()));
    while (panda_session_why_lost(sessions[1], 0, NULL, 0) == 0)
        nanosleep(&moment, NULL);
    while ((status = panda_port_receive(port, PANDA_ANY, PANDA_ANY, PANDA_FOREVER, &arrived)) == PANDA_OK) {
        CHECK(arrived.tag == kept++);
        panda_message_free(arrived.message);
    }
    CHECK(status == PANDA_LOST && panda_last_rank() == 0 && kept * LENGTH <= MOST + LENGTH);
    SAYS("port \"flood\"");
    IS(PANDA_LOST, panda_port_receive(port, 0, PANDA_ANY, PANDA_FOREVER, &arrived));
    IS(PANDA_BAD_ARGUMENT, panda_session_limit_unread(NULL, MOST));
    OK(panda_session_limit_untaken(sessions[0], MOST));
    IS(PANDA_BAD_ARGUMENT, panda_session_limit_untaken(NULL, MOST));
    for (int rank = 0; rank < 2; rank++) {
        OK(panda_session_check(sessions[rank]));
        OK(panda_session_end(sessions[rank]));
        IS(PANDA_OVER, panda_session_check(sessions[rank]));
        panda_session_free(sessions[rank]);
    }
    panda_port_free(flood);
    panda_port_free(port);
    panda_port_free(start);
    return 0;
}
