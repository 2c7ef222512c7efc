// Completions that have come are handled latest first; leaving the statement leaves the rest running; a send completes at once.
// models: cooperative called one-of-many
// out: arm 2 result 20
// out: arm 1 result 10
// out: arm 0 result 0
// out: done
// out: sent 7
// out: left after arm 0
// out: late one runs
// out: nothing left
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op work, slow;
    struct sr_semaphore go, over;
};

static struct sr_invocation *work(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    ((struct with_int *)inv)->result = ((struct with_int *)inv)->n * 10;
    return inv;
}

static struct sr_invocation *slow(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    sr_p(AT, &m->go);
    SAY(T("late one runs"));
    sr_v(AT, &m->over);
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->go, "main.go", 0);
    sr_semaphore_init(AT, &m->over, "main.over", 0);
    sr_op_proc(&m->work, i, "main.work", work, 1);
    sr_op_proc(&m->slow, i, "main.slow", slow, 1);
    struct sr_invocation *inv;
    struct sr_co *co = sr_co_begin(AT);
    for (int k = 0; k < 3; k++) {
        struct with_int *call = NEW(with_int);
        call->n = k;
        sr_co_call(AT, co, sr_cap_of(&m->work), &call->head, k);
    }
    while ((inv = sr_co_wait(AT, co))) {
        SAY(T("arm"), SR_VI(inv->arm), T("result"), SR_VI(((struct with_int *)inv)->result));
        sr_invocation_free(inv);
    }
    SAY(T("done"));
    sr_co_end(co);
    co = sr_co_begin(AT);
    struct with_int *sent = NEW(with_int);
    sr_co_send(AT, co, sr_cap_of(&m->work), &sent->head, 7);
    inv = sr_co_wait(AT, co);
    SAY(T("sent"), SR_VI(inv->arm));
    sr_invocation_free(inv);
    sr_co_end(co);
    co = sr_co_begin(AT);
    sr_co_call(AT, co, sr_cap_of(&m->slow), sr_invocation_new(AT, sizeof(struct sr_invocation)), 1);
    sr_co_done(AT, co, 0);
    inv = sr_co_wait(AT, co);
    SAY(T("left after arm"), SR_VI(inv->arm));
    sr_invocation_free(inv);
    sr_co_end(co);
    sr_v(AT, &m->go);
    sr_p(AT, &m->over);
    co = sr_co_begin(AT);
    if (!sr_co_wait(AT, co))
        SAY(T("nothing left"));
    sr_co_end(co);
}
MAIN(body, 0);
