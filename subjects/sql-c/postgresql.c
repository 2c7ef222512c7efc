/* PostgreSQL by libpq: statements as text by the simple protocol, prepared ones by the extended one, numbers as text. */
#include "sql.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection {
    PGconn *handle;
    unsigned prepared; /* statements so far, for their names */
    char error[512];
};

struct statement {
    struct connection *connection;
    char name[16];
};

const char *const sql_columns = "id SERIAL PRIMARY KEY, value INTEGER";
const char *const sql_parameter = "$1";
const char *const sql_first = "LIMIT";
const char *const sql_no_result = "SET statement_timeout TO 0";

const char *sql_error(const struct connection *connection)
{
    return connection ? connection->error : sql_why_not_connected();
}

static void stay_silent(void *context, const char *message)
{
    (void)context;
    (void)message; /* that a table to be dropped is not there */
}

struct connection *sql_connect(void)
{
    static const char *const keys[] = {"host", "port", "user", "password", "dbname", "sslmode", NULL};
    const char *values[] = {sql_told("ANTIPHON_SQL_HOST"), sql_told("ANTIPHON_SQL_PORT"), sql_told("ANTIPHON_SQL_USER"),
                            sql_told("ANTIPHON_SQL_PASSWORD"), sql_told("ANTIPHON_SQL_NAME"), "disable", NULL};
    for (int i = 0; i < 5; i++)
        if (!values[i])
            return NULL;
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->handle = PQconnectdbParams(keys, values, 0);
    if (PQstatus(connection->handle) != CONNECTION_OK) {
        sql_not_connected("%s", PQerrorMessage(connection->handle));
        sql_close(connection);
        return NULL;
    }
    PQsetNoticeProcessor(connection->handle, stay_silent, NULL);
    return connection;
}

bool sql_close(struct connection *connection)
{
    PQfinish(connection->handle);
    free(connection);
    return true;
}

static bool other_rows(struct connection *connection, uint64_t wanted, uint64_t found)
{
    snprintf(connection->error, sizeof connection->error, "%llu rows in place of %llu", (unsigned long long)found,
             (unsigned long long)wanted);
    return false;
}

/* Looks at a result and gives it back. */
static bool is(struct connection *connection, PGresult *result, ExecStatusType wanted)
{
    if (PQresultStatus(result) == wanted)
        return true;
    snprintf(connection->error, sizeof connection->error, "%s", PQerrorMessage(connection->handle));
    return false;
}

static bool changed(struct connection *connection, PGresult *result, uint64_t rows)
{
    bool done = is(connection, result, PGRES_COMMAND_OK);
    uint64_t count = done && rows ? strtoull(PQcmdTuples(result), NULL, 10) : 0;
    if (done && count != rows)
        done = other_rows(connection, rows, count);
    PQclear(result);
    return done;
}

static bool read_rows(struct connection *connection, PGresult *result, uint64_t rows, uint64_t *sum)
{
    bool done = is(connection, result, PGRES_TUPLES_OK);
    int count = done ? PQntuples(result) : 0;
    int columns = done ? PQnfields(result) : 0;
    for (int row = 0; row < count; row++)
        for (int i = 0; i < columns; i++)
            *sum += strtoull(PQgetvalue(result, row, i), NULL, 10);
    if (done && (uint64_t)count != rows)
        done = other_rows(connection, rows, (uint64_t)count);
    PQclear(result);
    return done;
}

bool sql_do(struct connection *connection, const char *text, uint64_t rows)
{
    return changed(connection, PQexec(connection->handle, text), rows);
}

bool sql_query(struct connection *connection, const char *text, uint64_t rows, uint64_t *sum)
{
    return read_rows(connection, PQexec(connection->handle, text), rows, sum);
}

struct statement *sql_prepare(struct connection *connection, const char *text)
{
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement)
        return NULL;
    statement->connection = connection;
    snprintf(statement->name, sizeof statement->name, "s%u", connection->prepared++);
    PGresult *result = PQprepare(connection->handle, statement->name, text, 1, NULL);
    if (!changed(connection, result, 0)) {
        free(statement);
        return NULL;
    }
    return statement;
}

static PGresult *execute(struct statement *statement, uint64_t parameter)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)parameter);
    const char *values[] = {text};
    return PQexecPrepared(statement->connection->handle, statement->name, 1, values, NULL, NULL, 0);
}

bool sql_do_prepared(struct statement *statement, uint64_t parameter, uint64_t rows)
{
    return changed(statement->connection, execute(statement, parameter), rows);
}

bool sql_query_prepared(struct statement *statement, uint64_t parameter, uint64_t rows, uint64_t *sum)
{
    return read_rows(statement->connection, execute(statement, parameter), rows, sum);
}

/* One that the server does not give back goes with its connection. */
void sql_finish(struct statement *statement)
{
    char text[32];
    snprintf(text, sizeof text, "DEALLOCATE %s", statement->name);
    PQclear(PQexec(statement->connection->handle, text));
    free(statement);
}

const char *sql_unsettled(struct connection *connection)
{
    (void)connection;
    return NULL;
}
