/* More processes join a running session. They run this program with an argument. */
#include "check.h"
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Processes that have joined, and that have left, by the events at rank 0 or a child. */
static atomic_uint joined, left;
/* A bit for each of them. */
static atomic_uint known;

static void follow(void *context, panda_rank rank, panda_peer_event event, const char *why)
{
    (void)context, (void)why;
    known |= 1u << rank;
    if (event == PANDA_PEER_JOINED)
        joined++;
    else if (event == PANDA_PEER_LEFT)
        left++;
}

static bool are_known(void *ranks)
{
    uint32_t all = *(uint32_t *)ranks;
    return (known & all) == all;
}

static bool have_left(void *count)
{
    return left >= *(uint32_t *)count;
}

/* Checks the options of a child, which then waits for a signal. */
static void child_with_options(panda_session *session, panda_port *port, const sigset_t *signals)
{
    char directory[64];
    int number = 0;
    CHECK(getcwd(directory, sizeof directory) != NULL && strcmp(directory, "/") == 0);
    CHECK(getenv("COLOUR") != NULL && strcmp(getenv("COLOUR"), "green") == 0 && getenv("TASTE") == NULL);
    OK(panda_port_send_synchronously(port, 0, panda_session_rank(session), text_message("hello")));
    CHECK(sigwait(signals, &number) == 0 && number == SIGUSR1);
    /* It signals itself. */
    OK(panda_session_signal(session, panda_session_rank(session), SIGUSR1));
    CHECK(sigwait(signals, &number) == 0 && number == SIGUSR1);
    OK(panda_port_send_synchronously(port, 0, 7, text_message("heard it twice")));
}

static void spawn_with_options(panda_session *session, panda_port *port, const char *program)
{
    const char *environment[] = {"COLOUR=green", "TASTE", NULL}, *arguments[] = {"with options", NULL};
    panda_spawn_options options = {.directory = "/", .environment = environment, .arguments = arguments};
    panda_spawned *spawned = NULL;
    panda_arrived arrived;
    CHECK(setenv("TASTE", "sour", 1) == 0);
    OK(panda_session_spawn_with(session, program, &options, 2, &spawned));
    CHECK(panda_spawned_count(spawned) == 2 && panda_spawned_rank(spawned, 2) == PANDA_ANY && panda_spawned_error(spawned, 2) == NULL);
    for (unsigned at = 0; at < 2; at++) {
        panda_rank child = panda_spawned_rank(spawned, at);
        CHECK(child != PANDA_ANY && strcmp(panda_spawned_error(spawned, at), "") == 0);
        OK(panda_port_receive(port, child, child, PANDA_FOREVER, &arrived));
        panda_message_free(arrived.message);
        OK(panda_session_signal(session, child, SIGUSR1));
        OK(panda_port_receive(port, child, 7, PANDA_FOREVER, &arrived));
        panda_message_free(arrived.message);
        IS(PANDA_LOST, panda_port_receive(port, child, PANDA_ANY, PANDA_FOREVER, &arrived));
    }
    panda_spawned_free(spawned);
    options.directory = "/no/such/directory";
    OK(panda_session_spawn_with(session, program, &options, 1, &spawned));
    CHECK(panda_spawned_rank(spawned, 0) == PANDA_ANY && strstr(panda_spawned_error(spawned, 0), "no directory /no/such/directory") != NULL);
    panda_spawned_free(spawned);
    options = (panda_spawn_options){.host = "node9.invalid"};
    OK(panda_session_spawn_with(session, program, &options, 1, &spawned));
    CHECK(strstr(panda_spawned_error(spawned, 0), "node9.invalid") != NULL);
    panda_spawned_free(spawned);
    IS(PANDA_BAD_ARGUMENT, panda_session_spawn_with(session, program, NULL, 1, NULL));
    IS(PANDA_BAD_ARGUMENT, panda_session_signal(session, 0, 0));
    IS(PANDA_NO_SUCH_RANK, panda_session_signal(session, 1000, SIGUSR1));
    CHECK(panda_spawned_count(NULL) == 0 && panda_spawned_rank(NULL, 0) == PANDA_ANY && panda_spawned_error(NULL, 0) == NULL);
    panda_spawned_free(NULL);
}

int main(int count, char **arguments)
{
    panda_session *session;
    panda_comm *all;
    panda_port *port;
    panda_arrived arrived;
    sigset_t signals;
    /* This runs before there are threads, so that they block it as well. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &signals, NULL) == 0);
    OK(panda_session_join(&session));
    OK(panda_port_open(session, "greetings", &port));
    /* All founders and both children, without this process. */
    uint32_t others = panda_session_size(session) + 1, children = 2;
    if (count > 1 || panda_session_rank(session) == 0)
        OK(panda_session_on_peer(session, follow, NULL, NULL));
    if (count > 1 && strcmp(arguments[1], "with options") == 0) {
        child_with_options(session, port, &signals);
    } else if (count > 1) {
        CHECK(strcmp(arguments[1], "a child's argument") == 0 && panda_session_rank(session) >= panda_session_size(session));
        CHECK(panda_session_parent(session) == 0);
        /* The other child may have ended before this one joined. Then no event for it comes. */
        uint32_t founders = (1u << panda_session_size(session)) - 1;
        OK(panda_session_wait_until(session, are_known, &founders, PANDA_FOREVER));
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
        spawn_with_options(session, port, arguments[0]);
    }
    /* Newcomers connect to all founders, so no founder leaves before. */
    if (count == 1) {
        OK(panda_comm_everyone(session, &all));
        OK(panda_comm_barrier(all));
        panda_comm_free(all);
    }
    panda_port_free(port);
    panda_session_free(session);
    return 0;
}
