// Higher priorities run first; who is started has its starter's; who lowers its own gives way.
// models: cooperative called one-of-many
// out: main 5
// out: high 5
// out: low 5
// out: low again -1
// out: main 0
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op high, low;
};
static struct sr_invocation *high(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    SAY(T("high"), SR_VI(sr_priority()));
    return inv;
}
static struct sr_invocation *low(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    SAY(T("low"), SR_VI(sr_priority()));
    sr_set_priority(AT, -1);
    SAY(T("low again"), SR_VI(sr_priority()));
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_op_proc(&m->high, i, "main.high", high, 1);
    sr_op_proc(&m->low, i, "main.low", low, 1);
    sr_set_priority(AT, 5);
    sr_send(AT, sr_cap_of(&m->high), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    sr_send(AT, sr_cap_of(&m->low), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    SAY(T("main"), SR_VI(sr_priority()));
    sr_set_priority(AT, -2);
    SAY(T("main"), SR_VI(sr_priority() + 2));
}
MAIN(body, 0);
