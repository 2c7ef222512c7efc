/* The units conversions, args, Time, Finish, RtsStats and trace, and what of them a run-time may
 * replace. */
#include "units.h"

#include <stdlib.h>
#include <time.h>

#include "internal.h"

/* ---- conversions -------------------------------------------------------------------------- */

int64_t f_conversions__StringToInt(const orca_array1 *s, int32_t *eaten)
{
    char *text = orca_string_to_c(s), *end;
    int64_t value = strtoll(text, &end, 10);
    *eaten = (int32_t)(end - text);
    orca_free(text);
    return value;
}
double f_conversions__StringToReal(const orca_array1 *s, int32_t *eaten)
{
    char *text = orca_string_to_c(s), *end;
    double value = strtod(text, &end);
    *eaten = (int32_t)(end - text);
    orca_free(text);
    return value;
}
void f_conversions__IntToString(int64_t i, orca_array1 *result)
{
    char text[24];
    orca_string_set(result, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)i));
}
/* Writes this many digits, 1 to 100. */
void f_conversions__RealToString(double r, int32_t precision, orca_array1 *result)
{
    char text[160];
    int digits = precision < 1 ? 1 : precision > 100 ? 100 : precision;
    orca_string_set(result, text, (size_t)snprintf(text, sizeof text, "%.*g", digits, r));
}

/* ---- args --------------------------------------------------------------------------------- */

ORCA_WEAK int orca_argc;
ORCA_WEAK char **orca_argv;

int32_t f_args__Argc(void) { return orca_argc; }
void f_args__Argv(int32_t n, orca_array1 *result)
{
    const char *text = n >= 0 && n < orca_argc ? orca_argv[n] : "";
    orca_string_set(result, text, strlen(text));
}
void f_args__Getenv(const orca_array1 *name, orca_array1 *result)
{
    char *variable = orca_string_to_c(name);
    const char *text = getenv(variable);
    orca_free(variable);
    text = text ? text : "";
    orca_string_set(result, text, strlen(text));
}

/* ---- Time --------------------------------------------------------------------------------- */

/* Returns nanoseconds since the program began. */
static int64_t elapsed(void)
{
    static struct timespec start;
    static int is_started;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!__atomic_load_n(&is_started, __ATOMIC_ACQUIRE)) {
        start = now;
        __atomic_store_n(&is_started, 1, __ATOMIC_RELEASE);
    }
    return (now.tv_sec - start.tv_sec) * INT64_C(1000000000) + now.tv_nsec - start.tv_nsec;
}
/* Runs before there are other threads. */
static void __attribute__((constructor)) start_clock(void) { elapsed(); }

int32_t f_Time__GetTime(void) { return (int32_t)(elapsed() / 100000000); }
int32_t f_Time__SysMilli(void) { return (int32_t)(elapsed() / 1000000); }
double f_Time__SysMicro(void) { return (double)elapsed() / 1000.0; }
void f_Time__Sleep(int32_t seconds, int32_t nanoseconds)
{
    if (seconds >= 0 && nanoseconds >= 0)
        orca_sleep(seconds, nanoseconds);
}
void f_Time__PrintTime(const orca_array1 *name, int32_t milliseconds)
{
    orca_write_begin();
    orca_write_string(name);
    char text[40];
    int length = snprintf(text, sizeof text, ": %.3f s\n", milliseconds / 1000.0);
    for (int i = 0; i < length; i++)
        orca_write_char((orca_byte)text[i]);
    orca_write_end();
}
void f_Time__PrintCompilationInfo(void)
{
    static const orca_array1 text = ORCA_TEXT("compiled by antiphon orca\n");
    orca_write_string(&text);
}

ORCA_WEAK void orca_sleep(int64_t seconds, int64_t nanoseconds)
{
    struct timespec left = {seconds + nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&left, &left))
        continue;
}

/* ---- the run-time ------------------------------------------------------------------------- */

ORCA_WEAK void orca_finish(void)
{
    exit(orca_flush() != NULL);
}
ORCA_WEAK void orca_reset_statistics(void) {}
ORCA_WEAK void orca_print_statistics(void) {}
ORCA_WEAK int32_t orca_trace_level(int32_t level)
{
    static int32_t current;
    int32_t before = current;
    current = level;
    return before;
}
ORCA_WEAK void orca_trace_event(int32_t level, const char *name, size_t length)
{
    (void)level, (void)name, (void)length;
}
ORCA_WEAK void orca_trace_flush(void) {}

void f_Finish__Finish(void) { orca_finish(); }
void f_RtsStats__reset_stats(void) { orca_reset_statistics(); }
void f_RtsStats__print_stats(void) { orca_print_statistics(); }
int32_t f_trace__set_level(int32_t level) { return orca_trace_level(level); }
void f_trace__record(int32_t level, const orca_array1 *name)
{
    orca_trace_event(level, name->data, name->dimension[0].count);
}
void f_trace__flush(void) { orca_trace_flush(); }
