// A call of a proc runs in the caller's process or in one of its own; a call of an input operation waits for who serves it.
// out: same process 1 14
// out: same process 0 14
// out: served 42
// out: pending 0
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op own, separate, in, server;
    struct sr_class c;
    struct sr_process *caller;
    int32_t same;
};

static struct sr_invocation *twice(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct with_int *call = (struct with_int *)inv;
    m->same = sr_self() == m->caller;
    call->result = 2 * call->n;
    return inv;
}

static struct sr_invocation *server(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct with_int *call = (struct with_int *)sr_receive(AT, sr_cap_of(&m->in), 0);
    call->result = call->n + 1;
    sr_finish(AT, &call->head);
    return inv;
}

static void call(struct instance *m, struct sr_op *op)
{
    struct with_int block;
    sr_invocation_local(&block.head, sizeof block);
    block.n = 7;
    struct with_int *answer = (struct with_int *)sr_call(AT, sr_cap_of(op), &block.head);
    SAY(T("same process"), SR_VI(m->same), SR_VI(answer->result));
    sr_invocation_free(&answer->head);
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_class_init(&m->c);
    sr_op_proc(&m->own, i, "main.own", twice, 0);
    sr_op_proc(&m->separate, i, "main.separate", twice, 1);
    sr_op_proc(&m->server, i, "main.server", server, 1);
    sr_op_input(&m->in, i, "main.in", &m->c);
    m->caller = sr_self();
    call(m, &m->own);
    call(m, &m->separate);
    sr_send(AT, sr_cap_of(&m->server), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    struct with_int block;
    sr_invocation_local(&block.head, sizeof block);
    block.n = 41;
    struct with_int *answer = (struct with_int *)sr_call(AT, sr_cap_of(&m->in), &block.head);
    SAY(T("served"), SR_VI(answer->result));
    SAY(T("pending"), SR_VI(sr_pending(AT, sr_cap_of(&m->in))));
}
MAIN(body, 0);
