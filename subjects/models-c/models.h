/* What the programs share: arguments, the clock, the work that all languages do alike, and threads. */
#ifndef MODELS_H
#define MODELS_H

#include <stdint.h>

/* The number of argument `index`, which must be at least `least`; ends the program with a message otherwise. */
long argument(int argc, char **argv, int index, const char *name, long least);

/* The monotonic clock, ns. */
uint64_t now_ns(void);

/* A busy loop: `work` dependent steps. */
uint32_t busy(uint32_t seed, long work);

/* Real work: `work` steps with a remainder each. */
int32_t compute(int32_t value, long work);

/* Runs `count` threads of `body`, each with its number from 0, and waits for all. */
void run_threads(long count, void *(*body)(void *));

/* The number that a thread's argument stands for. */
long number_of(void *argument);

/* Ends the program with a message unless its threads run one at a time, each until it gives way: under FIFO on one processor. */
void must_be_cooperative(void);

/* The account of a run that began at `began_ns`: the line that the laboratory reads. */
void account(uint64_t began_ns);
void account_operations(uint64_t began_ns, long operations);

/* Ends the program with a message if a call of the system failed. */
void check(int result, const char *what);

#endif
