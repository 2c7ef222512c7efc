/* A process that the program starts itself, with its own launch info. It is this program with an argument. */
#include "check.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Seconds after which a process of this test fails in any case: no other process ends one whose launch info is broken. */
enum { DEADLINE_S = 60 };

/* The step that this process waits for. */
static const char *volatile waits_for = "to join";

static void fail_late(int signal)
{
    static const char where[] = "launch_info.c: nothing for 60 s: this process waits ";
    const char *what = waits_for;
    (void)signal;
    if (write(STDERR_FILENO, where, sizeof where - 1) >= 0 && write(STDERR_FILENO, what, strlen(what)) >= 0)
        (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

static void set_deadline(void)
{
    struct sigaction action = {.sa_handler = fail_late};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    alarm(DEADLINE_S);
}

/* This process's environment after its launch info. */
static char **environment_of(panda_launch_info *info)
{
    const char *const *own = panda_launch_info_environment(info);
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
    panda_launch_info *infos[2] = {NULL, NULL};
    OK(panda_session_allot(session, 2, infos));
    pid_t processes[2];
    for (int at = 0; at < 2; at++) {
        char *arguments[] = {program, "allotted", NULL}, **environment = environment_of(infos[at]);
        CHECK(panda_launch_info_rank(infos[at]) == panda_session_size(session) + (panda_rank)at);
        CHECK(posix_spawn(&processes[at], program, NULL, NULL, arguments, environment) == 0);
        free(environment);
    }
    for (int at = 0; at < 2; at++) {
        panda_arrived arrived;
        int end = 1;
        waits_for = "for the word of a process that was allotted";
        OK(panda_port_receive(port, PANDA_ANY, PANDA_ANY, PANDA_FOREVER, &arrived));
        CHECK(arrived.from == panda_launch_info_rank(infos[0]) || arrived.from == panda_launch_info_rank(infos[1]));
        panda_message_free(arrived.message);
        waits_for = "for a process that was allotted to end";
        CHECK(waitpid(processes[at], &end, 0) == processes[at] && end == 0);
    }
    panda_launch_info_free(infos[0]);
    panda_launch_info_free(infos[1]);
}

int main(int count, char **arguments)
{
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    set_deadline();
    OK(panda_session_join(&session));
    OK(panda_port_open(session, "greetings", &port));
    if (count > 1) {
        CHECK(panda_session_rank(session) >= panda_session_size(session) && panda_session_parent(session) == 0);
        waits_for = "for the first process to take its word";
        OK(panda_port_send_synchronously(port, 0, 0, text_message("hello")));
    } else {
        if (panda_session_rank(session) == 0) {
            start(session, port, arguments[0]);
            IS(PANDA_BAD_ARGUMENT, panda_session_allot(session, 1, NULL));
            CHECK(panda_launch_info_rank(NULL) == PANDA_ANY && panda_launch_info_environment(NULL) == NULL);
            panda_launch_info_free(NULL);
        }
        waits_for = "for the other process in a barrier";
        OK(panda_comm_everyone(session, &all));
        OK(panda_comm_barrier(all));
        panda_comm_free(all);
    }
    panda_port_free(port);
    waits_for = "for its session to end";
    panda_session_free(session);
    return 0;
}
