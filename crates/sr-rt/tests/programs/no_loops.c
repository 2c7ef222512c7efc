// A model that needs checks in loops is refused by a program without them.
// models: cooperative
// options: model=counted:5
// exit: 2
// has: compile it with -DSR_LOOPS
#include "test.h"

struct instance {
    struct sr_instance head;
};
static void body(struct sr_instance *i, void *parameters) { (void)i, (void)parameters; }
MAIN(body, 0);
