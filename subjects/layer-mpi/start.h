/* What leader and members of one mpirun have in common before MPI starts. */
#ifndef START_H
#define START_H

#include "members.h"

#include <stdio.h>
#include <unistd.h>

/* The name that the members serve: all are children of the same mpirun. */
static inline void members_name(char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "antiphon-mpi-%d", (int)getppid());
}

/* Ends this process when mpirun is gone. */
void end_with_parent(void);

#endif
