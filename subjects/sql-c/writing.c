/* Statements that write. What was written is counted after each slice, untimed. */
#include "tests.h"

#include <stdio.h>

/* Inserts that are one operation of the transactions' tests. */
#define TOGETHER 10

static char insert_text[128], drop_text[128], create_text[160], count_text[160];
static struct statement *statement;
static uint64_t written; /* rows that the table must have */

static void create(void)
{
    snprintf(drop_text, sizeof drop_text, "DROP TABLE %s", written_table);
    snprintf(create_text, sizeof create_text, "CREATE TABLE %s (%s)", written_table, sql_columns);
    snprintf(insert_text, sizeof insert_text, "INSERT INTO %s (value) VALUES (1)", written_table);
    snprintf(count_text, sizeof count_text, "SELECT count(*), coalesce(sum(value), 0) FROM %s", written_table);
    must_do("DROP TABLE IF EXISTS %s", written_table);
    must_do("%s", create_text);
    written = 0;
}

static void prepare(uint64_t argument)
{
    (void)argument;
    prepare_database();
    create();
}

static void prepare_prepared(uint64_t argument)
{
    prepare(argument);
    char text[128];
    snprintf(text, sizeof text, "INSERT INTO %s (value) VALUES (%s)", written_table, sql_parameter);
    statement = sql_prepare(own, text);
    must(statement);
}

static void finish(void)
{
    if (statement)
        sql_finish(statement);
    statement = NULL;
    if (own) { /* what stays goes with the database */
        sql_do(own, "ROLLBACK", 0);
        sql_do(own, drop_text, 0);
    }
}

/* Each row holds a 1, so count and sum are the rows that were written. */
static void check(void)
{
    uint64_t sum = 0;
    if (!own) /* a preparation that failed */
        return;
    must(sql_query(own, count_text, 1, &sum));
    if (sum != 2 * written)
        kit_fail("the table's rows and values add up to %llu, and should to %llu", (unsigned long long)sum,
                 (unsigned long long)(2 * written));
}

static uint64_t frame_nothing(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += i;
    return sum;
}

static void insert(void)
{
    must(sql_do(own, insert_text, 1));
    written++;
}

static uint64_t frame_insert(uint64_t iterations)
{
    uint64_t before = written;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        insert();
    return written - before;
}

static uint64_t frame_prepared(uint64_t iterations)
{
    uint64_t before = written;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        must(sql_do_prepared(statement, 1, 1));
        written++;
    }
    return written - before;
}

static uint64_t frame_each(uint64_t iterations)
{
    uint64_t before = written;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        for (int j = 0; j < TOGETHER; j++)
            insert();
    return written - before;
}

static uint64_t frame_one(uint64_t iterations)
{
    uint64_t before = written;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        must(sql_do(own, "BEGIN", 0));
        for (int j = 0; j < TOGETHER; j++)
            insert();
        must(sql_do(own, "COMMIT", 0));
    }
    return written - before;
}

static uint64_t frame_drop_create(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        must(sql_do(own, drop_text, 0));
        must(sql_do(own, create_text, 0));
        sum++;
    }
    return sum;
}

#define WRITES .control = frame_nothing, .prepare = prepare, .reset = check, .finish = finish

const struct kit_test writing[] = {
    {.name = "insert", WRITES, .test = frame_insert, .work = "sql.insert"},
    {.name = "insert.prepared",
     .control = frame_nothing,
     .test = frame_prepared,
     .prepare = prepare_prepared,
     .reset = check,
     .finish = finish,
     .work = "sql.insert"},
    {.name = "transaction.one", WRITES, .test = frame_one, .work = "sql.transaction"},
    {.name = "transaction.each", WRITES, .test = frame_each, .work = "sql.transaction"},
    {.name = "drop_create", WRITES, .test = frame_drop_create, .work = "sql.drop_create"},
    {.name = NULL},
};
