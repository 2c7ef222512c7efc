/* What the files of tests share: the process's own connection, its tables, and statements that must succeed. */
#ifndef TESTS_H
#define TESTS_H

#include "kit.h"
#include "sql.h"

#define ROWS_MOST 1000

/* Open from the first preparation on, so that SQLite's file never loses its last user, which would make it tidy up. */
extern struct connection *own;

extern char rows_table[64];    /* ROWS_MOST rows of known values, never changed */
extern char written_table[64]; /* for tests that write */

/* Opens the connection and fills the table of rows, once. */
void prepare_database(void);

/* These end the test if they do not succeed. */
void must(bool done);
void must_do(const char *format, ...) __attribute__((format(printf, 1, 2)));

extern const struct kit_test reading[], writing[], clients[];

#endif
