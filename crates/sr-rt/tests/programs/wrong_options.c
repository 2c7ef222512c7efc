// An option that there is not is refused, with those that there are.
// options: speed=9
// exit: 2
// has: "speed=9": write model=
#include "test.h"

struct instance {
    struct sr_instance head;
};
static void body(struct sr_instance *i, void *parameters) { (void)i, (void)parameters; }
MAIN(body, 0);
