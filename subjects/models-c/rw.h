/* Readers and writers: what both styles share. A write changes both halves of the database and gives way between; a reader that sees
   halves that differ has seen a torn write. */
#ifndef RW_H
#define RW_H

#include "models.h"

void read_enter(void);
void read_leave(void);
void write_enter(void);
void write_leave(void);

/* The whole program: `NAME READERS WRITERS ROUNDS WORK`. */
int run_readers_and_writers(int argc, char **argv);

#endif
