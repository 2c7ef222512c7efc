// Several processes wait for one class: the one that waits longest looks first, and who finds nothing lets the next look.
// models: cooperative called one-of-many
// out: first gets 1
// out: third gets 3
// out: second gets 2
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op in, server;
    struct sr_class c;
};
static const char *const names[] = {"", "first", "second", "third"};

/* in in(x) and x = n -> ... ni; 1 is taken by who comes first. */
static struct sr_invocation *server(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    int32_t n = ((struct with_int *)inv)->n;
    sr_class_enter(AT, &m->c, 0);
    for (;;) {
        for (struct sr_invocation *p = sr_class_first(&m->c); p; p = sr_class_next(p)) {
            int32_t x = ((struct with_int *)p)->n;
            if (x == 1 || x == n) {
                sr_class_take(&m->c, p);
                SAY(sr_vs((sr_text){names[n], (int32_t)strlen(names[n])}), T("gets"), SR_VI(x));
                sr_finish(AT, p);
                return inv;
            }
        }
        sr_class_wait(AT, &m->c);
    }
}
static void send(struct sr_op *op, int32_t n)
{
    struct with_int *call = NEW(with_int);
    call->n = n;
    sr_send(AT, sr_cap_of(op), &call->head);
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_class_init(&m->c);
    sr_op_input(&m->in, i, "main.in", &m->c);
    sr_op_proc(&m->server, i, "main.server", server, 1);
    for (int k = 1; k <= 3; k++)
        send(&m->server, k);
    sr_nap(AT, 0);
    send(&m->in, 1);
    sr_nap(AT, 1);
    send(&m->in, 3);
    sr_nap(AT, 1);
    send(&m->in, 2);
}
MAIN(body, 0);
