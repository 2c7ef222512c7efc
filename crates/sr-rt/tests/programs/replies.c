// A reply lets the caller go on with the results as they are; what the servant changes later does not reach it. Parameters behind the block move with it.
// out: caller has 1, text abc
// out: servant goes on with xbc
// out: end without a reply 5
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op early, late;
    struct sr_semaphore go, done;
};

struct with_text {
    struct sr_invocation head;
    int32_t result;
    sr_text text;
    char room[8];
};

static void relocate(struct sr_invocation *inv, ptrdiff_t by) { ((struct with_text *)inv)->text.data += by; }

static struct sr_invocation *early(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    ((struct with_text *)inv)->result = 1;
    struct with_text *own = (struct with_text *)sr_reply(AT, inv);
    own->result = 2;
    ((char *)own->text.data)[0] = 'x';
    sr_p(AT, &m->go);
    SAY(T("servant goes on with"), sr_vs(own->text));
    sr_v(AT, &m->done);
    return &own->head;
}

static struct sr_invocation *late(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    ((struct with_int *)inv)->result = 5;
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->go, "main.go", 0);
    sr_semaphore_init(AT, &m->done, "main.done", 0);
    sr_op_proc(&m->early, i, "main.early", early, 1);
    sr_op_proc(&m->late, i, "main.late", late, 1);
    struct with_text block;
    sr_invocation_local(&block.head, sizeof block);
    memcpy(block.room, "abc", 3);
    block.text = (sr_text){block.room, 3};
    block.head.relocate = relocate;
    struct with_text *answer = (struct with_text *)sr_call(AT, sr_cap_of(&m->early), &block.head);
    sr_printf(AT, SR_STDOUT, SR_TEXT("caller has %d, text %s\n"), SR_LIST(struct sr_value, SR_VI(answer->result), sr_vs(answer->text)));
    sr_v(AT, &m->go);
    sr_p(AT, &m->done);
    struct with_int *call = NEW(with_int);
    call = (struct with_int *)sr_call(AT, sr_cap_of(&m->late), &call->head);
    SAY(T("end without a reply"), SR_VI(call->result));
    sr_invocation_free(&call->head);
}
MAIN(body, 0);
