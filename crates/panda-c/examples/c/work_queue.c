/* A work queue: process 0 hands out jobs by calls; all of them, it too, ask for one after another and return results.
 *
 *     cc -O2 -o work_queue work_queue.c $(pkg-config --cflags --libs panda)
 *     antiphon launch -n 4 --over tcp ./work_queue [JOBS]
 */
#include "example.h"
#include <inttypes.h>

/* A number and the length of its Collatz sequence; all 0 means none. */
struct sequence {
    uint64_t number, steps;
};

/* The remaining jobs, and the results so far. Only the upcall changes it. */
struct queue {
    uint64_t jobs, next, done;
    struct sequence longest;
};

static uint64_t steps_of(uint64_t number)
{
    uint64_t count = 0;
    for (; number != 1; count++)
        number = number % 2 ? 3 * number + 1 : number / 2;
    return count;
}

/* The result of the last job comes with the request for the next. */
static void hand_out(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    struct queue *queue = context;
    struct sequence result;
    (void)from;
    if (panda_message_pop(arguments, &result, sizeof result) != PANDA_OK)
        return; /* the caller gets PANDA_NO_REPLY */
    if (result.number != 0) {
        queue->done++;
        if (queue->longest.number == 0 || queue->longest.steps < result.steps)
            queue->longest = result;
    }
    uint64_t job = queue->next < queue->jobs ? ++queue->next : 0;
    must(panda_reply_send(reply, panda_message_of(&job, sizeof job)));
}

int main(int count, char **arguments)
{
    static struct queue queue;
    queue.jobs = argument(count, arguments, 2000);
    panda_session *session;
    panda_comm *all;
    must(panda_session_join(&session));
    must(panda_comm_everyone(session, &all));
    if (panda_session_rank(session) == 0)
        must(panda_session_serve(session, "job", hand_out, &queue, NULL));
    must(panda_comm_barrier(all));
    struct sequence done = {0, 0};
    for (;;) {
        panda_message *answer;
        uint64_t job;
        must(panda_session_call(session, 0, "job", panda_message_of(&done, sizeof done), PANDA_FOREVER, &answer));
        must(panda_message_pop(answer, &job, sizeof job));
        panda_message_free(answer);
        if (job == 0)
            break;
        done = (struct sequence){job, steps_of(job)};
    }
    /* A process that gets here has returned all its results. If one is lost with a job, the others end with an error that names it. */
    must(panda_comm_barrier(all));
    if (panda_session_rank(session) == 0)
        printf("%" PRIu64 " jobs, longest %" PRIu64 " with %" PRIu64 " steps\n", queue.done, queue.longest.number, queue.longest.steps);
    panda_comm_free(all);
    panda_session_free(session);
    return EXIT_SUCCESS;
}
