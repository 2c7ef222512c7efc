/* The kit beside a program in another language, in the same process. The kit calls its tests, and the program asks for one
 * step after another. So the kit has a stack of its own, and each lets the other go on:
 *
 *     the program    subject_next ─▶          ─▶ does the step, subject_next ─▶
 *     the kit                       a frame ─▶                                 the frame returns
 *
 * The program's partners are other processes, which serve no requests: only `subject_begins` and `subject_reads_report` are
 * called there. */
#ifndef STEPS_H
#define STEPS_H

#include "../kit/kit.h"

/* Steps of every program. Those of its tests have the numbers from OWN_STEPS on. */
enum { BEGINS, REPORTS, ENDS, OWN_STEPS };

/* For the kit's side ------------------------------------------------------------------------------------------------------ */

/* Has the program do a step. */
void do_step(int32_t step, int32_t count);

/* The bytes of an argument, which each step is told. */
void use_argument(uint64_t bytes, uint64_t most);

/* Has the program begin its partners, and moves this process's threads to the measuring thread's processor. */
void begin_partners(void);

/* Context switches of all partners so far. */
uint64_t partners_switches(void);

/* For the program -------------------------------------------------------------------------------------------------------- */

void subject_next(int32_t *step, int32_t *count, int32_t *argument_bytes);

/* On a partner. All its threads go to the processor, unless it is -1. Returns the process. */
int32_t subject_begins(int32_t processor);

/* On a partner: its report, for `subject_adds_report`. */
void subject_reads_report(int32_t *report);
void subject_adds_report(int32_t *report);
#define REPORT_INTEGERS 266

/* The process of a partner. */
void subject_knows(int32_t process);

#endif
