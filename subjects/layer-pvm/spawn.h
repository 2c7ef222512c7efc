/* The test of pvm_spawn, for the leader alone: from the call to the last task's first message. */
#ifndef SPAWN_H
#define SPAWN_H

#include "kit.h"
#include "members.h"
#include "tests.h"

#include <libgen.h>
#include <pvm3.h>
#include <stdio.h>
#include <time.h>

#define SPAWNED 16
#define SPAWNED_TAG 2
#define END_LIMIT_NS UINT64_C(20000000000)

/* Beside the members' program. */
static void spawned_program(char path[PATH_MAX])
{
    char members[PATH_MAX];
    member_program(members);
    if (snprintf(path, PATH_MAX, "%s/task", dirname(members)) >= PATH_MAX)
        kit_fail("the path of the spawned program is too long");
}

/* Waits until they have ended, so that they do not disturb what comes next. */
static void await_ends(const int *tasks)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint64_t limit_ns = kit_now() + END_LIMIT_NS;
    for (int i = 0; i < SPAWNED; i++)
        while (pvm_pstat(tasks[i]) == PvmOk) {
            if (kit_now() > limit_ns)
                kit_fail("task %x does not end", (unsigned)tasks[i]);
            nanosleep(&pause, NULL);
        }
}

static void spawn_operate(struct kit_sample *sample)
{
    int tasks[SPAWNED];
    char path[PATH_MAX];
    spawned_program(path);
    sample->actual_ns = kit_now();
    int started = pvm_spawn(path, NULL, PvmTaskDefault, "", SPAWNED, tasks);
    if (started != SPAWNED)
        kit_fail("pvm_spawn has started %d of %d tasks; the last one's code is %d", started, SPAWNED, tasks[SPAWNED - 1]);
    for (int i = 0; i < SPAWNED; i++) {
        int got = pvm_recv(-1, SPAWNED_TAG);
        if (got < 0)
            kit_fail("a spawned task says nothing: PVM's error %d", got);
    }
    sample->ended_ns = kit_now();
    await_ends(tasks);
}

#define SPAWN_TEST {.name = "spawn.16", .kind = KIT_LATENCY, .operate = spawn_operate, .prepare = members_prepare}

#endif
