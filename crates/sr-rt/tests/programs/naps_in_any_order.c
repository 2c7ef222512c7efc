// Nobody naps for less than it asked for, whoever goes on first.
// models: many many-sliced many-cooperative
// out: 1 napped long enough 1
// out: 2 napped long enough 1
// out: 3 napped long enough 1
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore done;
    struct sr_op p;
    int32_t napped[4];
};
static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    int32_t n = ((struct with_int *)inv)->n, before = sr_age();
    sr_nap(AT, 100 * n);
    m->napped[n] = sr_age() - before;
    sr_v(AT, &m->done);
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->done, "main.done", 0);
    sr_op_proc(&m->p, i, "main.p", p, 1);
    for (int k = 3; k > 0; k--) {
        struct with_int *call = NEW(with_int);
        call->n = k;
        sr_send(AT, sr_cap_of(&m->p), &call->head);
    }
    for (int k = 0; k < 3; k++)
        sr_p(AT, &m->done);
    for (int k = 1; k <= 3; k++)
        SAY(SR_VI(k), T("napped long enough"), SR_VI(m->napped[k] >= 100 * k));
}
MAIN(body, 0);
