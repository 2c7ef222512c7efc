// noop does nothing; null is an error; equal are those of the same operation.
// options: report=plain
// out: equal 1 0
// out: noop pending 0
// out: noop receives nothing
// out: called noop
// out: dynamic 6
// exit: 1
// err: RTS abort: file test.sr, line 45:
// err:    invalid operation capability
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op a, b;
    struct sr_class c;
};

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_class_init(&m->c);
    sr_op_input(&m->a, i, "main.a", &m->c);
    sr_op_input(&m->b, i, "main.b", &m->c);
    SAY(T("equal"), SR_VI(sr_cap_equal(sr_cap_of(&m->a), sr_cap_of(&m->a))), SR_VI(sr_cap_equal(sr_cap_of(&m->a), sr_cap_of(&m->b))));
    SAY(T("noop pending"), SR_VI(sr_pending(AT, SR_NOOP_CAP)));
    if (!sr_receive(AT, SR_NOOP_CAP, 1))
        SAY(T("noop receives nothing"));
    struct sr_invocation block;
    sr_invocation_local(&block, sizeof block);
    sr_call(AT, SR_NOOP_CAP, &block);
    sr_send(AT, SR_NOOP_CAP, sr_invocation_new(AT, sizeof block));
    sr_destroy(AT, SR_NOOP_RESOURCE);
    sr_send(AT, sr_cap_in(SR_NOOP_RESOURCE, 120), sr_invocation_new(AT, sizeof block));
    SAY(T("called noop"));
    sr_cap dynamic = sr_op_create(AT, i, "main.dynamic", 0);
    struct with_int *sent = NEW(with_int);
    sent->n = 6;
    sr_send(AT, dynamic, &sent->head);
    sent = (struct with_int *)sr_receive(AT, dynamic, 0);
    SAY(T("dynamic"), SR_VI(sent->n));
    sr_finish(AT, &sent->head);
    sr_op_destroy(AT, dynamic);
    sr_call(AT, SR_NULL_CAP, &block);
}
MAIN(body, 0);
