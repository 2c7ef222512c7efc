// An error names the place, the values and the process; what was written before is not lost, and finals do not run.
// out: before
// err: RTS abort: file test.sr, line 17:
// err:    illegal subscript [4] of array with bounds [5:8]
// err:    in process main.p
// exit: 1
#include "test.h"
struct instance {
    struct sr_instance head;
    struct sr_op p;
};
static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    struct sr_dimension d = {5, 8, 4};
    SAY(T("before"));
    SAY(SR_VI((int)sr_index(AT, &d, 4)));
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_op_proc(&m->p, i, "main.p", p, 1);
    sr_send(AT, sr_cap_of(&m->p), sr_invocation_new(AT, sizeof(struct sr_invocation)));
}
static void last(struct sr_instance *i) { (void)i; SAY(T("final")); }
MAIN(body, last);
