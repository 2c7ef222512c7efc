// create gives parameters to a body and waits until it ends or replies; each instance has its own variables.
// err: RTS warning: ignoring extra reply in body
// out: body 1
// out: body 2
// out: created, twice 2 and 4
// out: body goes on after its reply
// out: different 1 same 1
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore told, done;
};
struct cell {
    struct sr_instance head;
    struct sr_op twice;
    int32_t value;
};
struct parameters {
    int32_t value;
    struct sr_semaphore *told, *done;
};

static struct sr_invocation *twice(struct sr_instance *i, struct sr_invocation *inv)
{
    ((struct with_int *)inv)->result = 2 * ((struct cell *)i)->value;
    return inv;
}

static void cell_body(struct sr_instance *i, void *parameters)
{
    struct parameters *p = parameters;
    struct cell *cell = (struct cell *)i;
    cell->value = p->value;
    sr_op_proc(&cell->twice, i, "cell.twice", twice, 0);
    sr_instance_ops(i, &cell->twice, 1);
    SAY(T("body"), SR_VI(p->value));
    if (p->value == 2) {
        sr_reply_body(AT);
        sr_p(AT, p->told);
        sr_reply_body(AT);
        SAY(T("body goes on after its reply"));
        sr_v(AT, p->done);
    }
}
static const struct sr_component cell_component = {"cell", sizeof(struct cell), cell_body, 0, 0};

static int32_t call(sr_resource r)
{
    struct with_int block;
    sr_invocation_local(&block.head, sizeof block);
    return ((struct with_int *)sr_call(AT, sr_cap_in(r, offsetof(struct cell, twice)), &block.head))->result;
}

static void body(struct sr_instance *i, void *unused)
{
    (void)unused;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->told, "main.told", 0);
    sr_semaphore_init(AT, &m->done, "main.done", 0);
    struct parameters p = {1, &m->told, &m->done};
    sr_resource one = sr_create(AT, &cell_component, &p, sizeof p);
    p.value = 2;
    sr_resource two = sr_create(AT, &cell_component, &p, sizeof p);
    sr_printf(AT, SR_STDOUT, SR_TEXT("created, twice %d and %d\n"), SR_LIST(struct sr_value, SR_VI(call(one)), SR_VI(call(two))));
    sr_v(AT, &m->told);
    sr_p(AT, &m->done);
    SAY(T("different"), SR_VI(!sr_resource_equal(one, two)), T("same"), SR_VI(sr_resource_equal(two, two)));
}
MAIN(body, 0);
