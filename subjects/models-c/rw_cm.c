/* Readers and writers that give way until they may enter. */
#include "rw.h"

#include <sched.h>

static volatile long reading, writing, writers_wait;

void read_enter(void)
{
    while (writing > 0 || writers_wait > 0)
        sched_yield();
    reading = reading + 1;
}

void read_leave(void)
{
    reading = reading - 1;
}

void write_enter(void)
{
    writers_wait = writers_wait + 1;
    while (reading > 0 || writing > 0)
        sched_yield();
    writers_wait = writers_wait - 1;
    writing = writing + 1;
}

void write_leave(void)
{
    writing = writing - 1;
}

int main(int argc, char **argv)
{
    must_be_cooperative();
    return run_readers_and_writers(argc, argv);
}
