/* A virtual machine of the leader's own: one daemon, in a folder that nobody else has. */
#ifndef MACHINE_H
#define MACHINE_H

#include <sys/types.h>

/* Starts it and tells this process, and those that it starts, where it is. Gives the daemon's process. */
pid_t machine_start(void);

/* Ends the daemon and removes the folder, and returns when that is done. */
void machine_stop(void);

#endif
