/* Prints the costs in nanoseconds of a nap(0), a hand-over, an uncontended P and V, and a process's
 * life: processor time on one server, wall time on several. The argument is the number of
 * servers. */
#include "sr.h"
#include <time.h>

enum { N = 400000 };

struct instance {
    struct sr_instance head;
    struct sr_semaphore there, back, done;
    struct sr_op naps, hands, ends;
};
static const struct sr_location here = {"primitives.sr", 1, 0};
static clockid_t clock_used;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static void start(struct sr_op *op) { sr_send(&here, sr_cap_of(op), sr_invocation_new(&here, sizeof(struct sr_invocation))); }

static struct sr_invocation *naps(struct sr_instance *i, struct sr_invocation *inv)
{
    for (int k = 0; k < N; k++)
        sr_nap(&here, 0);
    sr_v(&here, &((struct instance *)i)->done);
    return inv;
}
static struct sr_invocation *hands(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    for (int k = 0; k < N; k++) {
        sr_p(&here, &m->there);
        sr_v(&here, &m->back);
    }
    return inv;
}
static struct sr_invocation *ends(struct sr_instance *i, struct sr_invocation *inv)
{
    sr_v(&here, &((struct instance *)i)->done);
    return inv;
}

static double cost_of_naps(struct instance *m)
{
    double begin = now_ns();
    start(&m->naps);
    start(&m->naps);
    sr_p(&here, &m->done);
    sr_p(&here, &m->done);
    return (now_ns() - begin) / (2.0 * N);
}
static double cost_of_hand_overs(struct instance *m)
{
    start(&m->hands);
    double begin = now_ns();
    for (int k = 0; k < N; k++) {
        sr_v(&here, &m->there);
        sr_p(&here, &m->back);
    }
    return (now_ns() - begin) / (2.0 * N);
}
static double cost_of_p_and_v(struct instance *m)
{
    double begin = now_ns();
    for (int k = 0; k < N; k++) {
        sr_v(&here, &m->there);
        sr_p(&here, &m->there);
    }
    return (now_ns() - begin) / N;
}
static double cost_of_lives(struct instance *m)
{
    double begin = now_ns();
    for (int k = 0; k < N; k++) {
        start(&m->ends);
        sr_p(&here, &m->done);
    }
    return (now_ns() - begin) / N;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    int32_t servers = 1;
    sr_getarg(1, sr_target_of('i', &servers));
    clock_used = servers > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    sr_semaphore_init(&here, &m->there, "main.there", 0);
    sr_semaphore_init(&here, &m->back, "main.back", 0);
    sr_semaphore_init(&here, &m->done, "main.done", 0);
    sr_op_proc(&m->naps, i, "main.naps", naps, 1);
    sr_op_proc(&m->hands, i, "main.hands", hands, 1);
    sr_op_proc(&m->ends, i, "main.ends", ends, 1);
    struct sr_value costs[] = {SR_VR(cost_of_naps(m)), SR_VR(cost_of_hand_overs(m)), SR_VR(cost_of_p_and_v(m)), SR_VR(cost_of_lives(m))};
    sr_write(&here, SR_STDOUT, 1, 4, costs);
}
static const struct sr_component main_component = {"main", sizeof(struct instance), body, 0, 0};
SR_PROGRAM(&main_component, 0, 0, 0);
