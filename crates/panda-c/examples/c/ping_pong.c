/* Two processes send a message to and fro, by message passing and by calls.
 *
 *     cc -O2 -o ping_pong ping_pong.c $(pkg-config --cflags --libs panda)
 *     antiphon launch -n 2 --over tcp ./ping_pong [ROUNDS]
 */
#include "example.h"
#include <time.h>

static void echo(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    (void)context, (void)from;
    must(panda_reply_send(reply, arguments));
}

static double now_us(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int count, char **arguments)
{
    uint32_t rounds = (uint32_t)argument(count, arguments, 10000);
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    panda_arrived ball;
    must(panda_session_join(&session));
    must(panda_comm_everyone(session, &all));
    must(panda_port_open(session, "ball", &port));
    must(panda_session_serve(session, "echo", echo, NULL, NULL));
    must(panda_comm_barrier(all));
    if (panda_session_rank(session) == 0) {
        double began_us = now_us();
        for (uint32_t round = 0; round < rounds; round++) {
            must(panda_port_send(port, 1, round, panda_message_new()));
            must(panda_port_receive(port, 1, round, PANDA_FOREVER, &ball));
            panda_message_free(ball.message);
        }
        printf("messages: %.2f µs a round trip\n", (now_us() - began_us) / (rounds ? rounds : 1));
        began_us = now_us();
        for (uint32_t round = 0; round < rounds; round++)
            must(panda_session_call(session, 1, "echo", panda_message_new(), PANDA_FOREVER, NULL));
        printf("call: %.2f µs\n", (now_us() - began_us) / (rounds ? rounds : 1));
    } else if (panda_session_rank(session) == 1) {
        for (uint32_t round = 0; round < rounds; round++) {
            must(panda_port_receive(port, 0, round, PANDA_FOREVER, &ball));
            must(panda_port_send(port, 0, round, ball.message));
        }
    }
    must(panda_comm_barrier(all));
    panda_port_free(port);
    panda_comm_free(all);
    panda_session_free(session);
    return EXIT_SUCCESS;
}
