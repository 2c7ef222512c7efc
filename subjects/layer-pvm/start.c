/* The leader starts a virtual machine of its own and spawns the members in it. */
#include "machine.h"
#include "members.h"

#include <inttypes.h>
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pid_t helpers[2]; /* the daemon and the server of groups */
static char members_name[NAME_BYTES];

static void spawn(char *path, unsigned rank)
{
    int task;
    char number[16];
    char *words[] = {members_name, number, NULL};
    snprintf(number, sizeof number, "%u", rank);
    int started = pvm_spawn(path, words, PvmTaskDefault, "", 1, &task);
    if (started != 1)
        member_fail("PVM does not spawn %s: error %d", path, started < 0 ? started : task);
}

void system_start_members(char name[NAME_BYTES])
{
    char path[PATH_MAX];
    snprintf(members_name, sizeof members_name, "antiphon-pvm-%d", (int)getpid());
    memcpy(name, members_name, sizeof members_name);
    member_program(path);
    helpers[0] = machine_start();
    if (pvm_mytid() < 0)
        member_fail("the leader cannot enrol in PVM");
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++)
        spawn(path, rank);
}

/* The daemon sends SIGTERM to what it still takes for its tasks, perhaps to the leader that has just left. */
void system_stop_members(void)
{
    signal(SIGTERM, SIG_IGN);
    machine_stop();
}

static uint64_t status_number(const char *status, const char *key)
{
    uint64_t number = 0;
    const char *line = strstr(status, key);
    if (line)
        sscanf(line + strlen(key), "%" SCNu64, &number);
    return number;
}

static uint64_t switches_of(pid_t process)
{
    char text[8192];
    snprintf(text, sizeof text, "/proc/%d/status", (int)process);
    FILE *file = fopen(text, "r");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[got] = '\0';
    if (file)
        fclose(file);
    return status_number(text, "\nvoluntary_ctxt_switches:") + status_number(text, "\nnonvoluntary_ctxt_switches:");
}

/* PVM starts the server of groups with the first group. */
static pid_t group_server(void)
{
    int count;
    struct pvmtaskinfo *task;
    if (pvm_tasks(0, &count, &task) < 0)
        return 0;
    for (int i = 0; i < count; i++)
        if (strstr(task[i].ti_a_out, "pvmgs"))
            return (pid_t)task[i].ti_pid;
    return 0;
}

uint64_t system_switches(void)
{
    if (helpers[1] == 0)
        helpers[1] = group_server();
    return switches_of(helpers[0]) + (helpers[1] > 0 ? switches_of(helpers[1]) : 0);
}
