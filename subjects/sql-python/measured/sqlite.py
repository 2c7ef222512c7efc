"""SQLite by the module of the standard library."""

import sqlite3

import kit
from measured.told import told

COLUMNS = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER"
PARAMETER = "?"
NO_RESULT = "PRAGMA query_only = OFF"


def connect():
    """Without statements kept between queries, and without transactions that nobody asked for."""
    return sqlite3.connect(
        told("FILE"), timeout=10, isolation_level=None, cached_statements=0, check_same_thread=False
    )


def connect_preparing():
    """The same; a statement is kept after its first use, which is how this module prepares."""
    return sqlite3.connect(told("FILE"), timeout=10, isolation_level=None)


def preparing_cursor(connection):
    """Of a connection that prepares."""
    return connection.cursor()


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
