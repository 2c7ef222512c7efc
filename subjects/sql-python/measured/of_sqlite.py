"""What is SQLite's own, whichever driver speaks to it."""

import kit

COLUMNS = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER"
# How a prepared statement asks for so many rows: newer libraries prepare one anew whenever the parameter of its LIMIT is bound.
FIRST = "WHERE id <="
NO_RESULT = "PRAGMA query_only = OFF"


def settle(connection):
    """The journal's mode belongs to the file; that each commit is written through is the library's default."""
    for pragma, wanted in (("journal_mode = wal", "wal"), ("synchronous", 2)):
        found = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
        if found != wanted:
            raise kit.Failed(f"PRAGMA {pragma} gives {found} in place of {wanted}")


def lengthen_log(connection):
    """As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor."""
    connection.execute("CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros")
    connection.execute("DROP TABLE filler")


def rows(cursor):
    """The library makes a row when it is asked for it."""
    return cursor
