/* What the laboratory tells, and why there is no connection. */
#include "sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char why[512];

void sql_not_connected(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
}

const char *sql_why_not_connected(void)
{
    return why;
}

const char *sql_told(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value) {
        sql_not_connected("%s is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)", name);
        return NULL;
    }
    return value;
}
