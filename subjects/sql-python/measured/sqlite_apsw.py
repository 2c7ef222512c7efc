"""SQLite by APSW, over the library that its wheel brings."""

import apsw
from measured.told import told

PARAMETER = "?"
WHY_UNPREPARED = None

# The library does not lock a connection for each call: each has one thread. The rest is what APSW opens by.
FLAGS = apsw.SQLITE_OPEN_NOMUTEX | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


class Cursor(apsw.Cursor):
    """APSW follows the DB-API in most: the rows that were changed it tells of the connection."""

    @property
    def rowcount(self):
        return self.connection.changes()


class Connection(apsw.Connection):
    """APSW never opens transactions, and has no word of its own to end one."""

    def rollback(self):
        if self.in_transaction:
            self.execute("ROLLBACK")


def connect(kept=0):
    """Without statements kept between queries."""
    connection = Connection(told("FILE"), FLAGS, statementcachesize=kept)
    connection.set_busy_timeout(10_000)
    connection.cursor_factory = Cursor
    return connection


def connect_preparing():
    """The same; a statement is kept after its first use, which is how APSW prepares."""
    return connect(kept=100)


def preparing_cursor(connection):
    """Of a connection that prepares."""
    return connection.cursor()
