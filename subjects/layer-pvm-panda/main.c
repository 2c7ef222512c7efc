/* The usual member, which takes part in the virtual machine at once: here pvm_spawn returns when it does. */
#include "../c/members/main.c"

#include <pvm3.h>

__attribute__((constructor)) static void take_part(void)
{
    (void)pvm_mytid();
}
