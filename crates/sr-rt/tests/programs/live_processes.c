// A hundred thousand processes live at once, in less than 2 GB.
// models: cooperative many
// out: all wait
// out: little memory 1
// out: all done 100000
#include "test.h"
#include <sys/resource.h>

enum { PROCESSES = 100000 };

struct instance {
    struct sr_instance head;
    struct sr_semaphore here, go, done;
    struct sr_op p;
};
static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    struct instance *m = (struct instance *)i;
    sr_v(AT, &m->here);
    sr_p(AT, &m->go);
    sr_v(AT, &m->done);
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->here, "main.here", 0);
    sr_semaphore_init(AT, &m->go, "main.go", 0);
    sr_semaphore_init(AT, &m->done, "main.done", 0);
    sr_op_proc(&m->p, i, "main.p", p, 1);
    for (int k = 0; k < PROCESSES; k++)
        sr_send(AT, sr_cap_of(&m->p), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    for (int k = 0; k < PROCESSES; k++)
        sr_p(AT, &m->here);
    SAY(T("all wait"));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    SAY(T("little memory"), SR_VI(usage.ru_maxrss < 2000000));
    int32_t done = 0;
    for (int k = 0; k < PROCESSES; k++)
        sr_v(AT, &m->go);
    for (; done < PROCESSES; done++)
        sr_p(AT, &m->done);
    SAY(T("all done"), SR_VI(done));
}
MAIN(body, 0);
