// A process that never asks for it loses its processor, to one that waits for that, under all models but the cooperative.
// models: counted sliced deferred
// out: the other ran
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op p;
    volatile int32_t has_run;
};
static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    ((struct instance *)i)->has_run = 1;
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_op_proc(&m->p, i, "main.p", p, 1);
    sr_send(AT, sr_cap_of(&m->p), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    while (!m->has_run)
        SR_LOOP();
    SAY(T("the other ran"));
}
MAIN(body, 0);
