/* The leader starts the members: processes, or threads of its own for `inproc`. */
#include "kit.h"
#include "over.h"
#include "sockets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t process[MEMBERS_MOST];
static pthread_t thread[MEMBERS_MOST];
static char members_name[NAME_BYTES];

/* Standard output is the protocol's. */
static void become_member(const char *path, unsigned rank)
{
    char number[16];
    snprintf(number, sizeof number, "%u", rank);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl(path, path, members_name, number, (char *)NULL);
    member_fail("%s: %s", path, strerror(errno));
}

static void start_process(const char *path, unsigned rank)
{
    process[rank] = fork();
    if (process[rank] < 0)
        member_fail("member %u cannot be started: %s", rank, strerror(errno));
    if (process[rank] == 0)
        become_member(path, rank);
}

static void *thread_body(void *rank)
{
    member_serve(members_name, (unsigned)(uintptr_t)rank, -1);
    return NULL;
}

void system_start_members(char name[NAME_BYTES])
{
    char path[PATH_MAX];
    snprintf(members_name, sizeof members_name, "antiphon-zeromq-%d", (int)getpid());
    memcpy(name, members_name, sizeof members_name);
    member_program(path);
    if (over() == INPROC)
        make_shared_context();
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++) {
        if (over() != INPROC)
            start_process(path, rank);
        else
            kit_start_partner(&thread[rank], thread_body, (void *)(uintptr_t)rank);
    }
}

void system_stop_members(void)
{
    for (unsigned rank = 1; rank < MEMBERS_MOST; rank++) {
        if (over() == INPROC)
            pthread_join(thread[rank], NULL);
        else
            waitpid(process[rank], NULL, 0);
    }
}

uint64_t system_switches(void)
{
    return 0;
}
