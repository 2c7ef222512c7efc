/* The leader is a virtual machine of its own, and spawns the members in it. There is no daemon. */
#include "members.h"

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void spawn(char *path, char *name, unsigned rank)
{
    int task;
    char number[16];
    char *words[] = {name, number, NULL};
    snprintf(number, sizeof number, "%u", rank);
    int started = pvm_spawn(path, words, PvmTaskDefault, "", 1, &task);
    if (started != 1)
        member_fail("%s was not spawned: PVM's error %d", path, started < 0 ? started : task);
}

void system_start_members(char name[NAME_BYTES])
{
    char path[PATH_MAX];
    snprintf(name, NAME_BYTES, "antiphon-pvm-panda-%d", (int)getpid());
    member_program(path);
    setenv("PVM_VMID", name, 1); /* nobody else's machine */
    if (pvm_mytid() < 0)
        member_fail("the leader cannot make a virtual machine");
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++)
        spawn(path, name, rank);
}

void system_stop_members(void)
{
}

uint64_t system_switches(void)
{
    return 0;
}
