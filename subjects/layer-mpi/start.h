/* By which name leader and members of one mpirun find one another. */
#ifndef START_H
#define START_H

#include "members.h"

#include <stdio.h>
#include <unistd.h>

/* All are children of the same mpirun. */
static inline void members_name(char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "antiphon-mpi-%d", (int)getppid());
}

#endif
