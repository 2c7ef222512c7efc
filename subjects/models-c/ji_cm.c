/* A barrier that counts, and gives way until the last has come. */
#include "ji.h"

#include <sched.h>

static long workers;
static volatile long arrived, phase;

void barrier_init(long count)
{
    workers = count;
}

void barrier(long own)
{
    (void)own;
    long own_phase = phase;
    arrived = arrived + 1;
    if (arrived == workers) {
        arrived = 0;
        phase = own_phase + 1;
        return;
    }
    while (phase == own_phase)
        sched_yield();
}

int main(int argc, char **argv)
{
    must_be_cooperative();
    return run_jacobi(argc, argv);
}
