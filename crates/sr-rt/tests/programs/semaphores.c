// V hands over to who waits longest; nobody overtakes.
// models: cooperative called sliced one-of-many
// out: main has one
// out: 0
// out: 1
// out: 2
// out: value 0
// out: value 2
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore s, order;
    struct sr_op p;
};

static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    sr_p(AT, &m->s);
    SAY(SR_VI(((struct with_int *)inv)->n));
    sr_v(AT, &m->order);
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->s, "main.s", 1);
    sr_semaphore_init(AT, &m->order, "main.order", 0);
    sr_op_proc(&m->p, i, "main.p", p, 1);
    sr_p(AT, &m->s);
    SAY(T("main has one"));
    for (int k = 0; k < 3; k++) {
        struct with_int *call = NEW(with_int);
        call->n = k;
        sr_send(AT, sr_cap_of(&m->p), &call->head);
    }
    while (m->s.value > -3)
        sr_nap(AT, 0);
    for (int k = 0; k < 3; k++) {
        sr_v(AT, &m->s);
        sr_p(AT, &m->order);
    }
    SAY(T("value"), SR_VI(sr_semaphore_pending(&m->s)));
    sr_v(AT, &m->s);
    sr_v(AT, &m->s);
    SAY(T("value"), SR_VI(sr_semaphore_pending(&m->s)));
}
MAIN(body, 0);
