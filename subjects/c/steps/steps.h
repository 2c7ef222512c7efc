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

/* A test's hook `prepare`: its frames do this step. Each is told the bytes of its argument. Partners begin, and this process's
 * threads move to the measuring thread's processor. */
void prepare_step(int32_t step, uint64_t argument_bytes, uint64_t bytes_most);
int32_t prepared_step(void);

/* A slice of a step in which so many other processes take part: two operations wake them, and they report. */
void begin_slice(int32_t partners);

/* A test's hook `reset`: adds the partners' context switches since `begin_slice`. */
void end_slice(void);

/* The two loops of a test: one that does nothing, and one that has the program do its step. */
uint64_t control_loop(uint64_t iterations);
uint64_t step_loop(uint64_t iterations);

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
