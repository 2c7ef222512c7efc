// Processes of a region never run at the same time: a variable that all change needs no lock.
// models: cooperative counted one-of-many many-cooperative
// out: 400000
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore done;
    struct sr_op p;
    volatile int32_t shared;
};
static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    sr_region(AT, 1);
    for (int k = 0; k < 100000; k++) {
        m->shared = m->shared + 1;
        if (k % 1000 == 0)
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
    for (int k = 0; k < 4; k++)
        sr_send(AT, sr_cap_of(&m->p), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    for (int k = 0; k < 4; k++)
        sr_p(AT, &m->done);
    SAY(SR_VI(m->shared));
}
MAIN(body, 0);
