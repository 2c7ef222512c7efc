// forward hands the duty to reply to another operation; results of the one that forwards are ignored.
// out: local 30
// out: owned 30
// out: to an input operation 300
// out: to noop 4
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op first, second, in, server;
    struct sr_class c;
    sr_cap to;
};

static struct sr_invocation *first(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct with_int *next = NEW(with_int);
    next->n = ((struct with_int *)inv)->n * 10;
    next->result = 4;
    inv = sr_forward(AT, inv, m->to, &next->head);
    ((struct with_int *)inv)->result = -1;
    return inv;
}

static struct sr_invocation *second(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    ((struct with_int *)inv)->result = ((struct with_int *)inv)->n;
    return inv;
}

static struct sr_invocation *server(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct with_int *call = (struct with_int *)sr_receive(AT, sr_cap_of(&m->in), 0);
    call->result = call->n * 10;
    sr_finish(AT, &call->head);
    return inv;
}

static int32_t call(struct instance *m)
{
    struct with_int block;
    sr_invocation_local(&block.head, sizeof block);
    block.n = 3;
    block.result = 0;
    struct with_int *answer = (struct with_int *)sr_call(AT, sr_cap_of(&m->first), &block.head);
    int32_t result = answer->result;
    sr_invocation_free(&answer->head);
    return result;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_class_init(&m->c);
    sr_op_proc(&m->first, i, "main.first", first, 1);
    sr_op_proc(&m->second, i, "main.second", second, 1);
    sr_op_proc(&m->server, i, "main.server", server, 1);
    sr_op_input(&m->in, i, "main.in", &m->c);
    m->to = sr_cap_of(&m->second);
    SAY(T("local"), SR_VI(call(m)));
    struct with_int *block = NEW(with_int);
    block->n = 3;
    block = (struct with_int *)sr_call(AT, sr_cap_of(&m->first), &block->head);
    SAY(T("owned"), SR_VI(block->result));
    sr_invocation_free(&block->head);
    sr_send(AT, sr_cap_of(&m->server), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    m->to = sr_cap_of(&m->in);
    SAY(T("to an input operation"), SR_VI(call(m)));
    m->to = SR_NOOP_CAP;
    SAY(T("to noop"), SR_VI(call(m)));
}
MAIN(body, 0);
