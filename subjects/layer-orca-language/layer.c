/* The functions behind subject.spf, by Orca's conventions. */
#include "../c/steps/steps.h"
#include "orca_values.h"

void f_subject__next(int32_t *step, int32_t *count, int32_t *bytes)
{
    subject_next(step, count, bytes);
}

void f_subject__argument(int32_t bytes, orca_array1 *result)
{
    char *zeros = orca_allocate(orca_here, (size_t)bytes, 1);
    orca_string_set(result, zeros, (size_t)bytes);
    orca_free(zeros);
}

int32_t f_subject__begins(int32_t processor)
{
    return subject_begins(processor);
}

void f_subject__knows(int32_t process)
{
    subject_knows(process);
}

void f_subject__report(orca_array1 *result)
{
    int32_t report[REPORT_INTEGERS] = {0};
    subject_reads_report(report);
    orca_string_set(result, (const char *)report, sizeof report);
}

void f_subject__adds(const orca_array1 *report)
{
    int32_t copy[REPORT_INTEGERS] = {0};
    if (report->dimension[0].count == sizeof copy)
        memcpy(copy, report->data, sizeof copy);
    subject_adds_report(copy);
}
