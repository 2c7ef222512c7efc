"""PostgreSQL by psycopg 3."""

import psycopg
from measured.of_postgresql import address

PARAMETER = "%s"
WHY_UNPREPARED = None


def connect(prepare_threshold=None):
    """Without statements that are prepared by themselves, and without transactions that nobody asked for."""
    return psycopg.connect(**address(), autocommit=True, prepare_threshold=prepare_threshold)


def connect_preparing():
    """The same; a statement is prepared at its first use."""
    return connect(prepare_threshold=0)


def preparing_cursor(connection):
    """Of a connection that prepares."""
    return connection.cursor()
