"""PostgreSQL by psycopg 3."""

import psycopg
from measured.told import told

COLUMNS = "id SERIAL PRIMARY KEY, value INTEGER"
PARAMETER = "%s"
NO_RESULT = "SET statement_timeout TO 0"


def connect(prepare_threshold=None):
    """Without statements that are prepared by themselves, and without transactions that nobody asked for."""
    return psycopg.connect(
        host=told("HOST"),
        port=told("PORT"),
        user=told("USER"),
        password=told("PASSWORD"),
        dbname=told("NAME"),
        sslmode="disable",
        autocommit=True,
        prepare_threshold=prepare_threshold,
    )


def connect_preparing():
    """The same; a statement is prepared at its first use."""
    return connect(prepare_threshold=0)


def preparing_cursor(connection):
    """Of a connection that prepares."""
    return connection.cursor()


def settle(connection):
    """The server has confirmed its settings."""


def lengthen_log(connection):
    """The server makes its log longer ahead of commits."""
