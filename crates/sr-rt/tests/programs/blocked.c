// A program whose processes are all blocked runs its final, tells who is blocked, where and on what, newest first, and ends well.
// models: cooperative called counted sliced deferred one-of-many
// out: final
// err: RTS warning: blocked process: main.receiver : file test.sr, line 21, waits for an invocation of main.in
// err: RTS warning: blocked process: main.waiter : file test.sr, line 16, waits for semaphore main.s
// err: RTS warning: blocked process: main.body : file test.sr, line 34, waits for semaphore main.s
#include "test.h"
struct instance {
    struct sr_instance head;
    struct sr_semaphore s;
    struct sr_op waiter, receiver, in;
    struct sr_class c;
};
static struct sr_invocation *waiter(struct sr_instance *i, struct sr_invocation *inv)
{
    sr_p(AT, &((struct instance *)i)->s);
    return inv;
}
static struct sr_invocation *receiver(struct sr_instance *i, struct sr_invocation *inv)
{
    sr_receive(AT, sr_cap_of(&((struct instance *)i)->in), 0);
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->s, "main.s", 0), sr_class_init(&m->c);
    sr_op_proc(&m->waiter, i, "main.waiter", waiter, 1);
    sr_op_proc(&m->receiver, i, "main.receiver", receiver, 1);
    sr_op_input(&m->in, i, "main.in", &m->c);
    sr_send(AT, sr_cap_of(&m->waiter), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    sr_send(AT, sr_cap_of(&m->receiver), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    sr_p(AT, &m->s);
}
static void last(struct sr_instance *i) { (void)i; SAY(T("final")); }
MAIN(body, last);
