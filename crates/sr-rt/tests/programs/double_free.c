// free of the same memory twice is found out.
// out: 0
// exit: 1
// has: bad address for free(), or block overwritten
#include "test.h"

struct instance {
    struct sr_instance head;
};
static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    int32_t *p = sr_new(AT, 40);
    SAY(SR_VI(p[9]));
    p[9] = 1;
    sr_free(AT, 0);
    sr_free(AT, p);
    sr_free(AT, p);
}
MAIN(body, 0);
