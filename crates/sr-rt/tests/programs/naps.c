// Who naps until an earlier time goes on first; the program does not end while somebody naps. On two servers, two who wake up late would go on at once.
// models: cooperative called counted sliced deferred one-of-many
// out: 1
// out: 2
// out: 3
// out: older 1
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op p;
    int32_t before;
};
static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    struct with_int *call = (struct with_int *)inv;
    int32_t before = ((struct instance *)i)->before;
    sr_nap(AT, before + 100 * call->n - sr_age());
    SAY(SR_VI(call->n));
    if (call->n == 3)
        SAY(T("older"), SR_VI(sr_age() - before >= 299));
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    m->before = sr_age();
    sr_op_proc(&m->p, i, "main.p", p, 1);
    for (int k = 3; k > 0; k--) {
        struct with_int *call = NEW(with_int);
        call->n = k;
        sr_send(AT, sr_cap_of(&m->p), &call->head);
    }
}
MAIN(body, 0);
