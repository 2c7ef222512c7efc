// Processes are started in order, run in turns, and end.
// models: cooperative called one-of-many
// out: begun
// out: 0 0
// out: 1 0
// out: 2 0
// out: 0 1
// out: 1 1
// out: 2 1
// out: all
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore done;
    struct sr_op p;
};

static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct with_int *call = (struct with_int *)inv;
    for (int k = 0; k < 2; k++) {
        SR_LOOP();
        SAY(SR_VI(call->n), SR_VI(k));
        sr_nap(AT, 0);
    }
    sr_v(AT, &m->done);
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->done, "main.done", 0);
    sr_op_proc(&m->p, i, "main.p", p, 1);
    for (int k = 0; k < 3; k++) {
        struct with_int *call = NEW(with_int);
        call->n = k;
        sr_send(AT, sr_cap_of(&m->p), &call->head);
    }
    SAY(T("begun"));
    for (int k = 0; k < 3; k++)
        sr_p(AT, &m->done);
    SAY(T("all"));
}
MAIN(body, 0);
