/* SQLite by its own library. */
#include "sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection {
    sqlite3 *handle;
    char error[512];
};

struct statement {
    struct connection *connection;
    sqlite3_stmt *handle;
};

const char *const sql_columns = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER";
const char *const sql_parameter = "?";
const char *const sql_first = "WHERE id <=";
const char *const sql_no_result = "PRAGMA query_only = OFF";

const char *sql_error(const struct connection *connection)
{
    return connection ? connection->error : sql_why_not_connected();
}

static bool failed(struct connection *connection)
{
    snprintf(connection->error, sizeof connection->error, "%s", sqlite3_errmsg(connection->handle));
    return false;
}

static bool other_rows(struct connection *connection, uint64_t wanted, uint64_t found)
{
    snprintf(connection->error, sizeof connection->error, "%llu rows in place of %llu", (unsigned long long)found,
             (unsigned long long)wanted);
    return false;
}

struct connection *sql_connect(void)
{
    const char *path = sql_told("ANTIPHON_SQL_FILE");
    struct connection *connection = path ? calloc(1, sizeof *connection) : NULL;
    if (!connection)
        return NULL;
    /* Each connection has one thread, so the library need not lock it for every call, as it does unless it is told. */
    const int mode = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &connection->handle, mode, NULL) != SQLITE_OK) {
        sql_not_connected("%s: %s", path, sqlite3_errmsg(connection->handle));
        sql_close(connection);
        return NULL;
    }
    sqlite3_busy_timeout(connection->handle, 10000);
    return connection;
}

/* One that a statement still uses stays open. */
bool sql_close(struct connection *connection)
{
    if (sqlite3_close(connection->handle) != SQLITE_OK)
        return failed(connection);
    free(connection);
    return true;
}

/* Steps through the rows and adds up their columns. */
static bool read_rows(struct connection *connection, sqlite3_stmt *statement, uint64_t rows, uint64_t *sum)
{
    uint64_t count = 0;
    int columns = sqlite3_column_count(statement);
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            *sum += (uint64_t)sqlite3_column_int64(statement, i);
        count++;
    }
    if (step != SQLITE_DONE)
        return failed(connection);
    return count == rows || other_rows(connection, rows, count);
}

bool sql_query(struct connection *connection, const char *text, uint64_t rows, uint64_t *sum)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(connection->handle, text, -1, &statement, NULL) != SQLITE_OK)
        return failed(connection);
    bool read = read_rows(connection, statement, rows, sum);
    sqlite3_finalize(statement);
    return read;
}

bool sql_do(struct connection *connection, const char *text, uint64_t rows)
{
    if (sqlite3_exec(connection->handle, text, NULL, NULL, NULL) != SQLITE_OK)
        return failed(connection);
    uint64_t changed = rows ? (uint64_t)sqlite3_changes(connection->handle) : 0;
    return changed == rows || other_rows(connection, rows, changed);
}

struct statement *sql_prepare(struct connection *connection, const char *text)
{
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement)
        return NULL;
    statement->connection = connection;
    if (sqlite3_prepare_v2(connection->handle, text, -1, &statement->handle, NULL) != SQLITE_OK) {
        failed(connection);
        free(statement);
        return NULL;
    }
    return statement;
}

bool sql_query_prepared(struct statement *statement, uint64_t parameter, uint64_t rows, uint64_t *sum)
{
    if (sqlite3_bind_int64(statement->handle, 1, (sqlite3_int64)parameter) != SQLITE_OK)
        return failed(statement->connection);
    bool read = read_rows(statement->connection, statement->handle, rows, sum);
    sqlite3_reset(statement->handle);
    return read;
}

bool sql_do_prepared(struct statement *statement, uint64_t parameter, uint64_t rows)
{
    uint64_t none = 0;
    if (!sql_query_prepared(statement, parameter, 0, &none))
        return false;
    uint64_t changed = (uint64_t)sqlite3_changes(statement->connection->handle);
    return changed == rows || other_rows(statement->connection, rows, changed);
}

void sql_finish(struct statement *statement)
{
    sqlite3_finalize(statement->handle);
    free(statement);
}

/* The answer of a pragma is its one column. */
static bool answers(struct connection *connection, const char *pragma, const char *wanted)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(connection->handle, pragma, -1, &statement, NULL) != SQLITE_OK)
        return failed(connection);
    bool row = sqlite3_step(statement) == SQLITE_ROW;
    const char *found = row ? (const char *)sqlite3_column_text(statement, 0) : "nothing";
    bool right = strcmp(found, wanted) == 0;
    if (!right)
        snprintf(connection->error, sizeof connection->error, "%s gives %s in place of %s", pragma, found, wanted);
    sqlite3_finalize(statement);
    return right;
}

/* As long as the log becomes before it is written over: a commit that makes it longer uses twice as much of the processor. */
static bool lengthen_log(struct connection *connection)
{
    return sql_do(connection, "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros", 0) &&
           sql_do(connection, "DROP TABLE filler", 0);
}

static bool unlocked(struct connection *connection)
{
    if (sqlite3_db_mutex(connection->handle) == NULL)
        return true;
    snprintf(connection->error, sizeof connection->error, "the library locks a connection for every call, though it is told not to");
    return false;
}

/* The journal's mode belongs to the file and is set here; that each commit is written through is the library's default. */
const char *sql_unsettled(struct connection *connection)
{
    bool settled = unlocked(connection) && answers(connection, "PRAGMA journal_mode = wal", "wal") &&
                   answers(connection, "PRAGMA synchronous", "2") && lengthen_log(connection);
    return settled ? NULL : connection->error;
}
