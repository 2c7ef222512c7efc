/* Rank 1 stops for ever, so a group of two cannot go on. Rank 0 gets an error, and then kills it. */
#include "check.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_uint members, expulsions;

static void follow(void *context, const panda_event *event)
{
    (void)context;
    if (event->kind == PANDA_EVENT_VIEW)
        members = (unsigned)event->members.count;
    if (event->kind == PANDA_EVENT_EXPELLED) {
        CHECK(event->why != NULL && strlen(event->why) > 0);
        expulsions++;
    }
}

static bool both_are_there(void *context)
{
    (void)context;
    return members == 2;
}

static bool is_expelled(void *context)
{
    (void)context;
    return expulsions == 1;
}

int main(void)
{
    panda_session *session;
    panda_comm *all;
    panda_group *group;
    panda_message *pids[2];
    pid_t own = getpid(), other;
    OK(panda_session_join_with_silence(200000000, &session));
    panda_rank rank = panda_session_rank(session);
    OK(panda_comm_everyone(session, &all));
    OK(panda_group_join(session, "pair", follow, NULL, NULL, &group));
    OK(panda_session_wait_until(session, both_are_there, NULL, PANDA_FOREVER));
    OK(panda_comm_gather(all, 0, panda_message_of(&own, sizeof own), pids));
    if (rank == 1)
        raise(SIGSTOP);
    OK(panda_message_pop(pids[1], &other, sizeof other));
    panda_message_free(pids[0]);
    panda_message_free(pids[1]);
    OK(panda_group_send(group, text_message("is anybody there?")));
    OK(panda_session_wait_until(session, is_expelled, NULL, PANDA_FOREVER));
    IS(PANDA_EXPELLED, panda_group_send(group, panda_message_new()));
    SAYS("pair");
    IS(PANDA_EXPELLED, panda_group_leave(group));
    CHECK(kill(other, SIGKILL) == 0);
    panda_group_free(group);
    panda_comm_free(all);
    panda_session_free(session);
    puts("told");
    return 0;
}
