/* mpirun has started the members already; they wait for the leader, and mpirun waits for them. */
#include "start.h"
#include "channel.h"

#include <stdlib.h>

static bool started;

void system_start_members(char name[NAME_BYTES])
{
    members_name(name);
    started = true;
}

void system_stop_members(void)
{
}

uint64_t system_switches(void)
{
    return 0;
}

/* For a leader that is asked for no test: a member whose leader comes and goes again ends. */
static void release_members(void)
{
    char name[NAME_BYTES];
    if (started)
        return;
    members_name(name);
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++) {
        int channel;
        while ((channel = channel_connect(name, rank)) < 0)
            usleep(2000); /* it is only just starting; if it failed, mpirun ends us */
        close(channel);
    }
}

/* The leader's main program is the kit's. */
__attribute__((constructor)) static void before_main(void)
{
    end_with_parent();
    atexit(release_members);
}
