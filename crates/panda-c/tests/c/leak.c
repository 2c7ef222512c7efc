/* Leaks a message, which a memory checker must find. */
#include "check.h"

static void forget(void)
{
    panda_message *message = panda_message_new();
    OK(panda_message_append(message, "forgotten", 9));
}

int main(void)
{
    forget();
    return 0;
}
