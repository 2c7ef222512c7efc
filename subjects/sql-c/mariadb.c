/* MariaDB by libmariadb: statements as text, prepared ones by the binary protocol. */
#include "sql.h"

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 2

struct connection {
    MYSQL *handle;
    char error[512];
};

struct statement {
    struct connection *connection;
    MYSQL_STMT *handle;
    unsigned columns;
    long long parameter;
    long long values[COLUMNS_MOST];
    my_bool nulls[COLUMNS_MOST];
};

const char *const sql_columns = "id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER";
const char *const sql_parameter = "?";
const char *const sql_first = "LIMIT";
const char *const sql_no_result = "DO 1";

const char *sql_error(const struct connection *connection)
{
    return connection ? connection->error : sql_why_not_connected();
}

static bool failed(struct connection *connection)
{
    snprintf(connection->error, sizeof connection->error, "%s", mysql_error(connection->handle));
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
    const char *host = sql_told("ANTIPHON_SQL_HOST"), *port = sql_told("ANTIPHON_SQL_PORT");
    const char *user = sql_told("ANTIPHON_SQL_USER"), *password = sql_told("ANTIPHON_SQL_PASSWORD");
    const char *name = sql_told("ANTIPHON_SQL_NAME");
    if (!host || !port || !user || !password || !name)
        return NULL;
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->handle = mysql_init(NULL);
    if (!connection->handle) {
        sql_not_connected("no storage for a connection");
        free(connection);
        return NULL;
    }
    const unsigned over = MYSQL_PROTOCOL_TCP;
    const my_bool off = 0; /* left alone, the library wants TLS from its version 3.4 on */
    mysql_options(connection->handle, MYSQL_OPT_PROTOCOL, &over);
    mysql_options(connection->handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &off);
    mysql_options(connection->handle, MYSQL_OPT_SSL_ENFORCE, &off);
    if (!mysql_real_connect(connection->handle, host, user, password, name, (unsigned)atoi(port), NULL, 0)) {
        sql_not_connected("%s", mysql_error(connection->handle));
        sql_close(connection);
        return NULL;
    }
    return connection;
}

bool sql_close(struct connection *connection)
{
    mysql_close(connection->handle);
    free(connection);
    return true;
}

bool sql_do(struct connection *connection, const char *text, uint64_t rows)
{
    if (mysql_query(connection->handle, text) != 0)
        return failed(connection);
    uint64_t changed = rows ? mysql_affected_rows(connection->handle) : 0;
    return changed == rows || other_rows(connection, rows, changed);
}

bool sql_query(struct connection *connection, const char *text, uint64_t rows, uint64_t *sum)
{
    if (mysql_query(connection->handle, text) != 0)
        return failed(connection);
    MYSQL_RES *result = mysql_store_result(connection->handle);
    if (!result)
        return failed(connection);
    unsigned columns = mysql_num_fields(result);
    uint64_t count = 0;
    for (MYSQL_ROW row; (row = mysql_fetch_row(result)); count++)
        for (unsigned i = 0; i < columns; i++)
            *sum += strtoull(row[i], NULL, 10);
    mysql_free_result(result);
    return count == rows || other_rows(connection, rows, count);
}

static bool statement_failed(struct statement *statement)
{
    snprintf(statement->connection->error, sizeof statement->connection->error, "%s", mysql_stmt_error(statement->handle));
    return false;
}

/* Parameter and columns stay where they are for all executions. */
static bool bind(struct statement *statement)
{
    MYSQL_BIND parameter = {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &statement->parameter};
    if (mysql_stmt_bind_param(statement->handle, &parameter))
        return false;
    MYSQL_BIND columns[COLUMNS_MOST] = {0};
    for (unsigned i = 0; i < statement->columns; i++) {
        columns[i].buffer_type = MYSQL_TYPE_LONGLONG;
        columns[i].buffer = &statement->values[i];
        columns[i].is_null = &statement->nulls[i];
    }
    return statement->columns == 0 || !mysql_stmt_bind_result(statement->handle, columns);
}

struct statement *sql_prepare(struct connection *connection, const char *text)
{
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement)
        return NULL;
    statement->connection = connection;
    statement->handle = mysql_stmt_init(connection->handle);
    if (!statement->handle) {
        failed(connection);
        free(statement);
        return NULL;
    }
    bool ready = mysql_stmt_prepare(statement->handle, text, strlen(text)) == 0;
    statement->columns = ready ? mysql_stmt_field_count(statement->handle) : 0;
    if (!ready || statement->columns > COLUMNS_MOST || !bind(statement)) {
        statement_failed(statement);
        sql_finish(statement);
        return NULL;
    }
    return statement;
}

bool sql_query_prepared(struct statement *statement, uint64_t parameter, uint64_t rows, uint64_t *sum)
{
    statement->parameter = (long long)parameter;
    if (mysql_stmt_execute(statement->handle) != 0 || mysql_stmt_store_result(statement->handle) != 0)
        return statement_failed(statement);
    uint64_t count = 0;
    int fetched;
    while ((fetched = mysql_stmt_fetch(statement->handle)) == 0) {
        for (unsigned i = 0; i < statement->columns; i++)
            *sum += (uint64_t)statement->values[i];
        count++;
    }
    if (fetched != MYSQL_NO_DATA)
        return statement_failed(statement);
    mysql_stmt_free_result(statement->handle);
    return count == rows || other_rows(statement->connection, rows, count);
}

bool sql_do_prepared(struct statement *statement, uint64_t parameter, uint64_t rows)
{
    statement->parameter = (long long)parameter;
    if (mysql_stmt_execute(statement->handle) != 0)
        return statement_failed(statement);
    uint64_t changed = mysql_stmt_affected_rows(statement->handle);
    return changed == rows || other_rows(statement->connection, rows, changed);
}

void sql_finish(struct statement *statement)
{
    mysql_stmt_close(statement->handle);
    free(statement);
}

const char *sql_unsettled(struct connection *connection)
{
    (void)connection;
    return NULL;
}
