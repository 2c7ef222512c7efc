/* The process's own connection and its tables. */
#include "tests.h"

#include <stdarg.h>
#include <stdio.h>

struct connection *own;
char rows_table[64], written_table[64];

static bool filled;

void must(bool done)
{
    if (!done)
        kit_fail("%s", sql_error(own));
}

void must_do(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    must(sql_do(own, text, 0));
}

static void connect_own(void)
{
    const char *table = sql_told("ANTIPHON_SQL_TABLE");
    own = table ? sql_connect() : NULL;
    must(own);
    const char *unsettled = sql_unsettled(own);
    if (unsettled)
        kit_fail("%s", unsettled);
    snprintf(rows_table, sizeof rows_table, "%s_rows", table);
    snprintf(written_table, sizeof written_table, "%s_written", table);
}

/* The row with key k holds 7919 k mod 10007, in all languages. */
static void fill(void)
{
    must_do("DROP TABLE IF EXISTS %s", rows_table);
    must_do("CREATE TABLE %s (%s)", rows_table, sql_columns);
    must_do("BEGIN");
    for (unsigned key = 1; key <= ROWS_MOST; key++) {
        char text[128];
        snprintf(text, sizeof text, "INSERT INTO %s (id, value) VALUES (%u, %u)", rows_table, key, 7919 * key % 10007);
        must(sql_do(own, text, 1));
    }
    must_do("COMMIT");
}

void prepare_database(void)
{
    if (!own)
        connect_own();
    if (!filled)
        fill();
    filled = true;
}

const struct kit_test *const kit_tables[] = {reading, writing, clients, NULL};
