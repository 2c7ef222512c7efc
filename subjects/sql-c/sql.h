/* A database as the tests see it. One of sqlite.c, postgresql.c and mariadb.c is linked, as the variant wants, and calls its
 * library as one does by hand: nothing stands between a test and the query but a function of another unit. */
#ifndef SQL_H
#define SQL_H

#include <stdbool.h>
#include <stdint.h>

struct connection;
struct statement;

/* Columns of `CREATE TABLE`: a key that counts by itself, and a value. */
extern const char *const sql_columns;

/* Whether the database keeps the settings that costs are compared under; the servers have confirmed theirs. Gives what is
 * wrong, or NULL. */
const char *sql_unsettled(struct connection *connection);

/* All report failure by NULL or false, and say why in sql_error. A connection that was not made has a word, too: pass NULL. */
struct connection *sql_connect(void);
bool sql_close(struct connection *connection); /* gone, unless it fails */
const char *sql_error(const struct connection *connection);

/* A statement that changes `rows` rows, none if it is about tables. */
bool sql_do(struct connection *connection, const char *text, uint64_t rows);

/* The cheapest statement that has no result: MariaDB's `DO 1`; where there is no such thing, a setting that is given the value it
 * has. */
extern const char *const sql_no_result;

/* A query of `rows` rows: every column of each is read as a number and added to the sum. */
bool sql_query(struct connection *connection, const char *text, uint64_t rows, uint64_t *sum);

/* The same, prepared once with one parameter, written as sql_parameter. */
extern const char *const sql_parameter;

/* How it asks for so many rows from the first on, the parameter behind it. SQLite's newer libraries prepare a statement anew whenever the parameter of its
 * LIMIT is bound, so that nothing would be told of a prepared one. */
extern const char *const sql_first;
struct statement *sql_prepare(struct connection *connection, const char *text);
bool sql_do_prepared(struct statement *statement, uint64_t parameter, uint64_t rows);
bool sql_query_prepared(struct statement *statement, uint64_t parameter, uint64_t rows, uint64_t *sum);
void sql_finish(struct statement *statement);

/* An environment variable of the laboratory's; NULL with a word in sql_error(NULL) if it is not set. */
const char *sql_told(const char *name);

/* Says why no connection was made. */
void sql_not_connected(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *sql_why_not_connected(void);

#endif
