// Around a call of an external function nothing switches, and output stays in order.
// out: before
// out: external 3
// out: after 6
#include "test.h"
#include <stdio.h>

struct instance {
    struct sr_instance head;
};
struct call {
    int32_t n, result;
};
/* Its frame is larger than a process's stack. */
static int triple(int n)
{
    volatile char room[2 << 20];
    room[n] = room[sizeof room - 1] = 1;
    printf("external %d\n", n);
    fflush(stdout);
    return 2 * n;
}
static void call(void *parameters)
{
    struct call *c = parameters;
    c->result = triple(c->n);
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    SAY(T("before"));
    struct call c = {3, 0};
    sr_external(AT, call, &c);
    SAY(T("after"), SR_VI(c.result));
}
MAIN(body, 0);
