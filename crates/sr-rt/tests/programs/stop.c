// stop runs the finals and tells nothing of what is blocked.
// out: before
// out: final
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore s;
    struct sr_op stopper;
};
static struct sr_invocation *stopper(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    SAY(T("before"));
    sr_stop(AT, 0);
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->s, "main.s", 0);
    sr_op_proc(&m->stopper, i, "main.stopper", stopper, 1);
    sr_send(AT, sr_cap_of(&m->stopper), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    sr_p(AT, &m->s);
}
static void last(struct sr_instance *i) { (void)i; SAY(T("final")); }
MAIN(body, last);
