// stop with a code ends at once, without finals; what was written is not lost.
// out: before
// exit: 7
#include "test.h"

struct instance {
    struct sr_instance head;
};
static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    SAY(T("before"));
    sr_stop(AT, 7);
}
static void last(struct sr_instance *i) { (void)i; SAY(T("final")); }
MAIN(body, last);
