// Memory of blocks is a stack: released to a mark it is used again, whatever the sizes.
// out: same 1
// out: sum 4950
// out: aligned 1
// exit: 1
// has: out of memory
#include "test.h"

struct instance {
    struct sr_instance head;
};
static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    sr_allocate(AT, 8);
    sr_mark outer = sr_mark_now();
    char *first = sr_allocate(AT, 100);
    int64_t sum = 0;
    int aligned = 1;
    for (int k = 0; k < 100; k++) {
        sr_mark inner = sr_mark_now();
        for (int n = 0; n < 20; n++) {
            int64_t bytes = (int64_t)k * n * 50 + n;
            char *block = sr_allocate(AT, bytes);
            aligned &= ((uintptr_t)block & 15) == 0;
            memset(block, k, (size_t)bytes);
        }
        int32_t *value = sr_allocate(AT, 4);
        *value = k;
        sum += *value;
        sr_release(inner);
    }
    sr_release(outer);
    SAY(T("same"), SR_VI(sr_allocate(AT, 100) == first));
    SAY(T("sum"), SR_VI((int32_t)sum));
    SAY(T("aligned"), SR_VI(aligned));
    sr_allocate(AT, INT64_MAX);
}
MAIN(body, 0);
