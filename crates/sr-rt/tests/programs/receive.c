// Messages are received in the order in which they were sent; with an else nobody waits.
// out: pending 3
// out: 0
// out: 1
// out: 2
// out: none
// out: semaphore 1
// out: none
// out: late 9
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op in, token, late;
    struct sr_class c;
    struct sr_semaphore s;
};

static struct sr_invocation *late(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    struct with_int *call = NEW(with_int);
    call->n = 9;
    sr_send(AT, sr_cap_of(&m->in), &call->head);
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_class_init(&m->c);
    sr_op_input(&m->in, i, "main.in", &m->c);
    sr_op_proc(&m->late, i, "main.late", late, 1);
    sr_semaphore_init(AT, &m->s, "main.s", 0);
    sr_op_semaphore(&m->token, i, "main.token", &m->s);
    for (int k = 0; k < 3; k++) {
        struct with_int *call = NEW(with_int);
        call->n = k;
        sr_send(AT, sr_cap_of(&m->in), &call->head);
    }
    SAY(T("pending"), SR_VI(sr_pending(AT, sr_cap_of(&m->in))));
    struct with_int *call;
    while ((call = (struct with_int *)sr_receive(AT, sr_cap_of(&m->in), 1))) {
        SAY(SR_VI(call->n));
        sr_finish(AT, &call->head);
    }
    SAY(T("none"));
    sr_send(AT, sr_cap_of(&m->token), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    SAY(T("semaphore"), SR_VI(sr_pending(AT, sr_cap_of(&m->token))));
    sr_finish(AT, sr_receive(AT, sr_cap_of(&m->token), 0));
    if (!sr_receive(AT, sr_cap_of(&m->token), 1))
        SAY(T("none"));
    sr_send(AT, sr_cap_of(&m->late), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    call = (struct with_int *)sr_receive(AT, sr_cap_of(&m->in), 0);
    SAY(T("late"), SR_VI(call->n));
    sr_finish(AT, &call->head);
}
MAIN(body, 0);
