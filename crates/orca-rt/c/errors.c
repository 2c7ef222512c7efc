/* Run-time errors: the original's texts, with values. */
#include <stdarg.h>
#include <stdlib.h>

#include "internal.h"

_Thread_local orca_at orca_here;

static const char *const introductions[] = {"Run-time error", "I/O error", "Limit exceeded",
                                            "System error"};

ORCA_WEAK void orca_runtime_error(orca_at at, enum orca_error_kind kind, const char *text,
                                  const char *values)
{
    orca_flush();
    fputs(introductions[kind], stderr);
    if (at)
        fprintf(stderr, ", file \"%s\", line %d", at->file, (int)at->line);
    fprintf(stderr, ": %s%s%s\n", text, *values ? ": " : "", values);
    abort();
}

void orca_fail(orca_at at, enum orca_error_kind kind, const char *text, const char *format, ...)
{
    char values[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(values, sizeof values, format, arguments);
    va_end(arguments);
    orca_runtime_error(at, kind, text, values);
}

void orca_bad_index(orca_at at, long long index, long long low, long long high, int dimension)
{
    static const char text[] = "array bound error";
    if (high < low)
        orca_fail(at, ORCA_ERROR, text, "index %lld of an empty array", index);
    if (dimension > 1)
        orca_fail(at, ORCA_ERROR, text, "index %lld of dimension %d is not in %lld..%lld", index,
                  dimension, low, high);
    orca_fail(at, ORCA_ERROR, text, "index %lld is not in %lld..%lld", index, low, high);
}

void orca_bad_node(orca_at at, uint32_t index, uint32_t age)
{
    bool is_nil = !index && !age;
    const char *why = is_nil ? "it is NIL" : "the graph has no such node, or no longer";
    orca_runtime_error(at, ORCA_ERROR, "bad nodename", why);
}

void orca_bad_union(orca_at at, long long tag, bool is_set, long long wanted)
{
    if (!is_set)
        orca_fail(at, ORCA_ERROR, "union error", "no alternative is set, and %lld is used", wanted);
    orca_fail(at, ORCA_ERROR, "union error", "the tag is %lld, and alternative %lld is used", tag,
              wanted);
}

void orca_bad_case(orca_at at, long long value)
{
    orca_fail(at, ORCA_ERROR, "case error", "no label is %lld, and there is no ELSE", value);
}

void orca_bad_alias(orca_at at)
{
    const char *why = "one actual parameter is or holds another that the function may change";
    orca_runtime_error(at, ORCA_ERROR, "illegal alias", why);
}

void orca_bad_assertion(orca_at at)
{
    orca_runtime_error(at, ORCA_ERROR, "assertion failed", "");
}

void orca_no_return(orca_at at, const char *routine, bool is_operation)
{
    const char *text = is_operation ? "no RETURN from operation"
                                    : "no RETURN from function procedure";
    orca_runtime_error(at, ORCA_ERROR, text, routine);
}

void orca_division_by_zero(orca_at at, const char *dividend)
{
    orca_fail(at, ORCA_ERROR, "divide by 0", "%s is divided by it", dividend);
}

void orca_bad_modulo(orca_at at, long long left, long long right)
{
    orca_fail(at, ORCA_ERROR, "modulo by <= 0", "%lld %% %lld", left, right);
}

void orca_bad_value(orca_at at, const char *what, long long value, long long low, long long high)
{
    orca_fail(at, ORCA_ERROR, "range error in CHR or VAL", "%s of %lld is not in %lld..%lld", what,
              value, low, high);
}

void orca_no_function(orca_at at)
{
    const char *why = "the function variable that is called has no value";
    orca_runtime_error(at, ORCA_ERROR, "unknown error", why);
}

void orca_bad_cpu(orca_at at, long long cpu, long long cpus)
{
    orca_fail(at, ORCA_ERROR, "illegal cpu number", "%lld is not in 0..%lld", cpu, cpus - 1);
}
