#include "over.h"

#include <stdlib.h>
#include <string.h>

enum over over(void)
{
    const char *named = getenv("LAYER_OVER");
    if (named && strcmp(named, "tcp") == 0)
        return TCP;
    if (named && strcmp(named, "inproc") == 0)
        return INPROC;
    if (named && strcmp(named, "ipc") != 0)
        member_fail("LAYER_OVER=%s: it goes over ipc, tcp or inproc", named);
    return IPC;
}

bool system_members_are_threads(void)
{
    return over() == INPROC;
}
