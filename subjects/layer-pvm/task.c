/* A task that the test of pvm_spawn starts: it says one word to its parent. */
#include <pvm3.h>
#include <stdlib.h>

int main(void)
{
    int parent = pvm_parent();
    if (parent < 0 || pvm_initsend(PvmDataRaw) < 0 || pvm_send(parent, 2) < 0)
        return EXIT_FAILURE;
    return pvm_exit() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
