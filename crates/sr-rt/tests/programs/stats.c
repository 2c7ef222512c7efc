// What happened is counted and told.
// models: cooperative one-of-many
// options: stats=json
// out: done
// has: "yields":10,
// has: "p_operations":5,"blocked_p_operations":0
// has: "turn_ns":{"p50":
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_semaphore s;
};
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->s, "main.s", 0);
    for (int k = 0; k < 10; k++)
        sr_nap(AT, 0);
    for (int k = 0; k < 5; k++) {
        sr_v(AT, &m->s);
        sr_p(AT, &m->s);
    }
    SAY(T("done"));
}
MAIN(body, 0);
