/* Round trips of 8 bytes, received explicitly. Rank 0 prints the nanoseconds of one. The argument is their number; another tenth is not timed. */
#define _GNU_SOURCE
#include <panda.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void must(panda_status status)
{
    if (status != PANDA_OK) {
        fprintf(stderr, "%s\n", panda_last_error());
        exit(EXIT_FAILURE);
    }
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **arguments)
{
    static const char payload[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    panda_arrived ball;
    if (count != 3)
        return EXIT_FAILURE;
    long trips = atol(arguments[1]);
    must(panda_session_join(&session));
    panda_rank rank = panda_session_rank(session);
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(strcmp(arguments[2], "one") == 0 ? 0 : rank, &processors);
    if (sched_setaffinity(0, sizeof processors, &processors) != 0)
        perror("sched_setaffinity");
    must(panda_comm_everyone(session, &all));
    must(panda_port_open(session, "ball", &port));
    must(panda_comm_barrier(all));
    double began_ns = 0;
    for (long trip = -trips / 10; trip < trips; trip++) {
        if (trip == 0)
            began_ns = now_ns();
        if (rank == 0) {
            must(panda_port_send_bytes(port, 1, 0, payload, sizeof payload));
            must(panda_port_receive(port, 1, PANDA_ANY, PANDA_FOREVER, &ball));
            panda_message_free(ball.message);
        } else {
            must(panda_port_receive(port, 0, PANDA_ANY, PANDA_FOREVER, &ball));
            must(panda_port_send(port, 0, 0, ball.message));
        }
    }
    if (rank == 0)
        printf("%f\n", (now_ns() - began_ns) / (double)trips);
    must(panda_comm_barrier(all));
    panda_port_free(port);
    panda_comm_free(all);
    panda_session_free(session);
    return EXIT_SUCCESS;
}
