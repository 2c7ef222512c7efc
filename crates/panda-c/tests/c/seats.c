/* A process that the program starts itself, in a seat that it was allotted. It is this program with an argument. */
#include "check.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

/* This process's environment behind what tells a seat. */
static char **environment_of(panda_seat *seat)
{
    const char *const *own = panda_seat_environment(seat);
    size_t count = 0, inherited = 0, at = 0;
    while (own[count] != NULL)
        count++;
    while (environ[inherited] != NULL)
        inherited++;
    char **all = malloc((count + inherited + 1) * sizeof *all);
    CHECK(all != NULL && count > 3);
    for (size_t i = 0; i < count; i++)
        all[at++] = (char *)own[i];
    for (size_t i = 0; i <= inherited; i++)
        all[at++] = environ[i];
    return all;
}

static void start(panda_session *session, panda_port *port, char *program)
{
    panda_seat *seats[2] = {NULL, NULL};
    panda_status status = panda_session_allot(session, 2, seats);
    if (strcmp(panda_session_platform(session), "mpi") == 0) {
        CHECK(status == PANDA_NOT_JOINED && seats[0] == NULL);
        return;
    }
    CHECK(status == PANDA_OK);
    pid_t processes[2];
    for (int at = 0; at < 2; at++) {
        char *arguments[] = {program, "seated", NULL}, **environment = environment_of(seats[at]);
        CHECK(panda_seat_rank(seats[at]) == panda_session_size(session) + (panda_rank)at);
        CHECK(posix_spawn(&processes[at], program, NULL, NULL, arguments, environment) == 0);
        free(environment);
    }
    for (int at = 0; at < 2; at++) {
        panda_arrived arrived;
        int end = 1;
        OK(panda_port_receive(port, PANDA_ANY, PANDA_ANY, PANDA_FOREVER, &arrived));
        CHECK(arrived.from == panda_seat_rank(seats[0]) || arrived.from == panda_seat_rank(seats[1]));
        panda_message_free(arrived.message);
        CHECK(waitpid(processes[at], &end, 0) == processes[at] && end == 0);
    }
    panda_seat_free(seats[0]);
    panda_seat_free(seats[1]);
}

int main(int count, char **arguments)
{
    panda_session *session;
    panda_circle *all;
    panda_port *port;
    OK(panda_session_join(&session));
    OK(panda_port_open(session, "greetings", &port));
    if (count > 1) {
        CHECK(panda_session_rank(session) >= panda_session_size(session) && panda_session_parent(session) == 0);
        OK(panda_port_send_synchronously(port, 0, 0, text_message("hello")));
    } else {
        if (panda_session_rank(session) == 0) {
            start(session, port, arguments[0]);
            IS(PANDA_BAD_ARGUMENT, panda_session_allot(session, 1, NULL));
            CHECK(panda_seat_rank(NULL) == PANDA_ANY && panda_seat_environment(NULL) == NULL);
            panda_seat_free(NULL);
        }
        OK(panda_circle_everyone(session, &all));
        OK(panda_circle_barrier(all));
        panda_circle_free(all);
    }
    panda_port_free(port);
    panda_session_free(session);
    return 0;
}
