// destroy runs the final, ends the processes of the instance and its operations; memory is used again, and old capabilities find out.
// out: final
// out: refused 1
// out: again final
// out: many times
// exit: 1
// has: attempting to invoke operation that no longer exists
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op caller;
    struct sr_semaphore done;
    sr_resource r;
};
struct cell {
    struct sr_instance head;
    struct sr_op serve, hang, never;
    struct sr_class c, d;
    struct sr_semaphore s;
    const char *word;
};

static struct sr_invocation *serve(struct sr_instance *i, struct sr_invocation *inv)
{
    struct cell *cell = (struct cell *)i;
    sr_finish(AT, sr_receive(AT, sr_cap_of(&cell->hang), 0));
    SAY(T("it must not run again"));
    return inv;
}
static struct sr_invocation *wait(struct sr_instance *i, struct sr_invocation *inv)
{
    sr_p(AT, &((struct cell *)i)->s);
    SAY(T("it must not run again"));
    return inv;
}
static void cell_body(struct sr_instance *i, void *parameters)
{
    struct cell *cell = (struct cell *)i;
    cell->word = *(const char **)parameters;
    sr_class_init(&cell->c);
    sr_class_init(&cell->d);
    sr_semaphore_init(AT, &cell->s, "cell.s", 0);
    sr_op_proc(&cell->serve, i, "cell.serve", serve, 1);
    sr_op_input(&cell->hang, i, "cell.hang", &cell->c);
    sr_op_input(&cell->never, i, "cell.never", &cell->d);
    sr_instance_ops(i, &cell->serve, 3);
    sr_send(AT, sr_cap_of(&cell->serve), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    struct sr_op waits;
    sr_op_proc(&waits, i, "cell.wait", wait, 1);
    sr_send(AT, sr_cap_of(&waits), sr_invocation_new(AT, sizeof(struct sr_invocation)));
}
static void cell_final(struct sr_instance *i)
{
    const char *word = ((struct cell *)i)->word;
    if (*word)
        SAY(sr_vs((sr_text){word, (int32_t)strlen(word)}));
}
static const struct sr_component cell_component = {"cell", sizeof(struct cell), cell_body, cell_final, 0};

static struct sr_invocation *caller(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct sr_invocation block;
    sr_invocation_local(&block, sizeof block);
    struct sr_invocation *answer = sr_call(AT, sr_cap_in(m->r, offsetof(struct cell, never)), &block);
    SAY(T("refused"), SR_VI(answer->is_refused));
    sr_v(AT, &m->done);
    return inv;
}

static sr_resource make(const char *word) { return sr_create(AT, &cell_component, &word, sizeof word); }

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->done, "main.done", 0);
    sr_op_proc(&m->caller, i, "main.caller", caller, 1);
    m->r = make("final");
    sr_cap old = sr_cap_in(m->r, offsetof(struct cell, never));
    sr_send(AT, sr_cap_of(&m->caller), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    while (sr_pending(AT, old) == 0)
        sr_nap(AT, 0);
    sr_destroy(AT, m->r);
    sr_p(AT, &m->done);
    m->r = make("again final");
    sr_nap(AT, 1);
    sr_destroy(AT, m->r);
    for (int k = 0; k < 20000; k++) {
        m->r = make("");
        if (k % 2)
            sr_nap(AT, 0);
        sr_destroy(AT, m->r);
    }
    SAY(T("many times"));
    sr_send(AT, old, sr_invocation_new(AT, sizeof(struct sr_invocation)));
}
MAIN(body, 0);
