// An array of 10^8 elements costs what is touched of it; one that no machine has is an error.
// out: 0 7
// out: little memory 1
// exit: 1
// has: out of memory
#include "test.h"
#include <sys/resource.h>

struct instance {
    struct sr_instance head;
};
static void body(struct sr_instance *of, void *parameters)
{
    (void)parameters;
    for (int k = 0; k < 10; k++) {
        sr_mark mark = sr_mark_now();
        struct sr_dimension d = {1, 100000000, 0};
        int32_t *a = sr_array_make(AT, 0, &d, 1, sizeof(int32_t));
        a[99999999] = 7;
        if (k == 9)
            SAY(SR_VI(a[50000000]), SR_VI(a[99999999]));
        sr_release(mark);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    SAY(T("little memory"), SR_VI(usage.ru_maxrss < 100000));
    struct sr_dimension d[3] = {{1, 2000000000, 0}, {1, 2000000000, 0}, {1, 2000000000, 0}};
    sr_array_make(AT, of, d, 3, sizeof(int32_t));
}
MAIN(body, 0);
