"""What is the same with every driver of a server."""

from measured.told import told

# How a prepared statement asks for so many rows.
FIRST = "LIMIT"


def address():
    """Where it is, in the words that all these drivers have; only that for the database differs."""
    return {"host": told("HOST"), "port": int(told("PORT")), "user": told("USER"), "password": told("PASSWORD")}


def settle(connection):
    """The server has confirmed its settings."""


def lengthen_log(connection):
    """The server makes its log longer ahead of commits."""


def rows(cursor):
    """They have come with the answer; to be asked for each takes some drivers twice as long."""
    return cursor.fetchall()
