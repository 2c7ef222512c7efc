// Around a call of an external function nothing switches, and output stays in order.
// out: before
// out: external 3
// out: after 6
#include "test.h"
#include <stdio.h>

struct instance {
    struct sr_instance head;
};
static int triple(int n)
{
    printf("external %d\n", n);
    fflush(stdout);
    return 2 * n;
}
static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    SAY(T("before"));
    SR_EXTERNAL_BEGIN();
    int32_t result = triple(3);
    SR_EXTERNAL_END();
    SAY(T("after"), SR_VI(result));
}
MAIN(body, 0);
