/* The tables of the features suite, a file each, and what several of them need. */
#ifndef FEATURES_H
#define FEATURES_H

#include "kit.h"

extern const struct kit_test call_scalar_tests[];
extern const struct kit_test call_composite_tests[];
extern const struct kit_test allocation_tests[];
extern const struct kit_test new_tests[];
extern const struct kit_test exception_tests[];
extern const struct kit_test task_tests[];
extern const struct kit_test handoff_tests[];
extern const struct kit_test caller_tests[];
extern const struct kit_test protected_tests[];
extern const struct kit_test contended_tests[];
extern const struct kit_test clock_tests[];
extern const struct kit_test time_tests[];
extern const struct kit_test delay_tests[];
extern const struct kit_test storage_tests[];
extern const struct kit_test interrupt_tests[];
extern const struct kit_test absent_tests[];

/* The control of most blocking operations: nothing but the loop. */
kit_frame empty_loop;

#endif
