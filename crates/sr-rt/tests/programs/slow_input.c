// While one process waits for input, others go on; the program does not end meanwhile.
// in: 5
// out: others run
// out: got 5
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op reader;
    struct sr_semaphore told;
};
static struct sr_invocation *reader(struct sr_instance *i, struct sr_invocation *inv)
{
    int32_t n = 0;
    sr_read(AT, SR_STDIN, SR_LIST(struct sr_target, sr_target_of('i', &n)));
    sr_p(AT, &((struct instance *)i)->told);
    SAY(T("got"), SR_VI(n));
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->told, "main.told", 0);
    sr_op_proc(&m->reader, i, "main.reader", reader, 1);
    sr_send(AT, sr_cap_of(&m->reader), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    SAY(T("others run"));
    sr_flush(AT, SR_STDOUT);
    sr_v(AT, &m->told);
}
MAIN(body, 0);
