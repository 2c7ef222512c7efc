// A recursion deeper than the stack is an error that names the process and the function.
// exit: 1
// has: stack overflow
// has: in process main.p
// has: in main.deeper
// has: file test.sr, line 3
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op p;
};
static const struct sr_location place = {"test.sr", 3, 0};

__attribute__((noinline)) SR_CODE static int deeper(int n)
{
    volatile char room[200];
    room[n % 200] = 1;
    return n < 0 ? 0 : deeper(n + 1) + room[n % 200];
}
SR_CODE static struct sr_invocation *p(struct sr_instance *i, struct sr_invocation *inv)
{
    (void)i;
    SAY(SR_VI(deeper(0)));
    return inv;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_op_proc(&m->p, i, "main.p", p, 1);
    sr_send(AT, sr_cap_of(&m->p), sr_invocation_new(AT, sizeof(struct sr_invocation)));
}
static const struct sr_function functions[] = {{(const void *)deeper, "main.deeper", &place}, {(const void *)p, "main.p", &place}};
static const struct sr_component main_component = {"main", sizeof(struct instance), body, 0, 0};
SR_PROGRAM(&main_component, 0, functions, 2);
