"""SQLite by the module of the standard library."""

import sqlite3

from measured.told import told

PARAMETER = "?"
WHY_UNPREPARED = None


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
