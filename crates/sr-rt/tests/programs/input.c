// Input statements choose the oldest that suits, or the least by a scheduling expression; a wait ends with a new invocation that suits.
// out: even 2
// out: least 1
// out: least 3
// out: least 5
// out: other 8
// out: else
// out: woken 6
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op in, other, sender;
    struct sr_class c;
};

static void send(struct sr_op *op, int32_t n)
{
    struct with_int *call = NEW(with_int);
    call->n = n;
    sr_send(AT, sr_cap_of(op), &call->head);
}

/* in in(x) and x % 2 = 0 */
static struct with_int *even(struct instance *m)
{
    sr_class_enter(AT, &m->c, 0);
    for (;;) {
        for (struct sr_invocation *i = sr_class_first(&m->c); i; i = sr_class_next(i))
            if (i->op.op == &m->in && ((struct with_int *)i)->n % 2 == 0) {
                sr_class_take(&m->c, i);
                return (struct with_int *)i;
            }
        sr_class_wait(AT, &m->c);
    }
}

/* in in(x) by x -> ... [] other(x) -> ... [] else -> ... */
static struct with_int *least(struct instance *m)
{
    sr_class_enter(AT, &m->c, 1);
    struct with_int *best = 0;
    for (struct sr_invocation *i = sr_class_first(&m->c); i; i = sr_class_next(i)) {
        struct with_int *call = (struct with_int *)i;
        if (i->op.op == &m->other && !best) {
            best = call;
            break;
        }
        if (i->op.op == &m->in && (!best || call->n < best->n))
            best = call;
    }
    if (best)
        sr_class_take(&m->c, &best->head);
    else
        sr_class_leave(&m->c);
    return best;
}

static struct sr_invocation *sender(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    send(&m->in, 7);
    sr_nap(AT, 1);
    send(&m->in, 6);
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_class_init(&m->c);
    sr_op_input(&m->in, i, "main.in", &m->c);
    sr_op_input(&m->other, i, "main.other", &m->c);
    sr_op_proc(&m->sender, i, "main.sender", sender, 1);
    send(&m->in, 5);
    send(&m->in, 2);
    send(&m->in, 3);
    send(&m->in, 1);
    struct with_int *call = even(m);
    SAY(T("even"), SR_VI(call->n));
    sr_finish(AT, &call->head);
    send(&m->other, 8);
    while ((call = least(m))) {
        if (call->head.op.op == &m->in)
            SAY(T("least"), SR_VI(call->n));
        else
            SAY(T("other"), SR_VI(call->n));
        sr_finish(AT, &call->head);
    }
    SAY(T("else"));
    sr_send(AT, sr_cap_of(&m->sender), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    call = even(m);
    SAY(T("woken"), SR_VI(call->n));
    sr_finish(AT, &call->head);
}
MAIN(body, 0);
