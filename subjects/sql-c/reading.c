/* Connections and queries. */
#include "tests.h"

#include <stdio.h>

static char text[128];
static uint64_t rows;
static struct statement *statement;

static uint64_t frame_nothing(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += i;
    return sum;
}

/* Connect, SELECT 1, close -------------------------------------------------------------------------------------------- */

static void prepare_nothing_else(uint64_t argument)
{
    (void)argument;
    prepare_database();
}

static uint64_t frame_connect(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        struct connection *connection = sql_connect();
        if (!connection)
            kit_fail("%s", sql_error(NULL));
        bool done = sql_query(connection, "SELECT 1", 1, &sum);
        if (!done)
            snprintf(text, sizeof text, "%s", sql_error(connection));
        bool closed = sql_close(connection);
        if (!done)
            kit_fail("%s", text);
        if (!closed)
            kit_fail("%s", sql_error(connection));
    }
    return sum;
}

/* A statement without a result ---------------------------------------------------------------------------------------- */

static uint64_t frame_no_result(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        must(sql_do(own, sql_no_result, 0));
        sum++;
    }
    return sum;
}

/* Queries ------------------------------------------------------------------------------------------------------------- */

static void prepare_one(uint64_t argument)
{
    (void)argument;
    prepare_database();
    rows = 1;
    snprintf(text, sizeof text, "SELECT 1");
}

static void prepare_rows(uint64_t wanted)
{
    prepare_database();
    rows = wanted;
    snprintf(text, sizeof text, "SELECT * FROM %s LIMIT %llu", rows_table, (unsigned long long)wanted);
}

static uint64_t frame_query(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        must(sql_query(own, text, rows, &sum));
    return sum;
}

static void prepare_prepared(uint64_t wanted)
{
    prepare_database();
    rows = wanted;
    snprintf(text, sizeof text, "SELECT * FROM %s %s %s", rows_table, sql_first, sql_parameter);
    statement = sql_prepare(own, text);
    must(statement);
}

static void finish_prepared(void)
{
    if (statement)
        sql_finish(statement);
    statement = NULL;
}

static uint64_t frame_prepared(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        must(sql_query_prepared(statement, rows, rows, &sum));
    return sum;
}

/* Rows are part of a test's name, as a suite names its results by tests. */
#define PREPARES(how, count)                               \
    static void prepare_##how##_##count(uint64_t argument) \
    {                                                      \
        (void)argument;                                    \
        prepare_##how(count);                              \
    }
PREPARES(rows, 1)
PREPARES(rows, 10)
PREPARES(rows, 50)
PREPARES(rows, 100)
PREPARES(rows, 200)
PREPARES(rows, 500)
PREPARES(rows, 1000)
PREPARES(prepared, 1)
PREPARES(prepared, 10)
PREPARES(prepared, 100)
PREPARES(prepared, 1000)
#define ROWS_TEST(count)                                                                                        \
    {                                                                                                           \
        .name = "rows." #count, .control = frame_nothing, .test = frame_query, .prepare = prepare_rows_##count, \
        .work = "sql.rows." #count                                                                              \
    }
#define PREPARED_TEST(count)                                                                       \
    {                                                                                              \
        .name = "prepared." #count, .control = frame_nothing, .test = frame_prepared,              \
        .prepare = prepare_prepared_##count, .finish = finish_prepared, .work = "sql.rows." #count \
    }

const struct kit_test reading[] = {
    {.name = "connect", .control = frame_nothing, .test = frame_connect, .prepare = prepare_nothing_else, .work = "sql.connect"},
    {.name = "do.1", .control = frame_nothing, .test = frame_no_result, .prepare = prepare_nothing_else, .work = "sql.do.1"},
    {.name = "select.1", .control = frame_nothing, .test = frame_query, .prepare = prepare_one, .work = "sql.select.1"},
    ROWS_TEST(1),
    ROWS_TEST(10),
    ROWS_TEST(50),
    ROWS_TEST(100),
    ROWS_TEST(200),
    ROWS_TEST(500),
    ROWS_TEST(1000),
    PREPARED_TEST(1),
    PREPARED_TEST(10),
    PREPARED_TEST(100),
    PREPARED_TEST(1000),
    {.name = NULL},
};
