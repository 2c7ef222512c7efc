/* Jacobi iteration: what both styles share. */
#ifndef JI_H
#define JI_H

#include "models.h"

/* Waits until all `workers` have come. `own` is the worker's number. */
void barrier_init(long workers);
void barrier(long own);

/* The whole program: `NAME SIZE WORKERS ITERATIONS`. */
int run_jacobi(int argc, char **argv);

#endif
