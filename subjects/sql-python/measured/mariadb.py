"""MariaDB by its own connector: statements as text, prepared ones by the binary protocol."""

import mariadb
from measured.told import told

COLUMNS = "id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER"
PARAMETER = "?"
NO_RESULT = "DO 1"


def connect():
    """Without transactions that nobody asked for, which this driver would open."""
    return mariadb.connect(
        host=told("HOST"),
        port=int(told("PORT")),
        user=told("USER"),
        password=told("PASSWORD"),
        database=told("NAME"),
        autocommit=True,
        ssl=False,
        ssl_verify_cert=False,
    )


connect_preparing = connect


def preparing_cursor(connection):
    """A statement is prepared at its first use."""
    return connection.cursor(prepared=True, binary=True)


def settle(connection):
    """The server has confirmed its settings."""


def lengthen_log(connection):
    """The server makes its log longer ahead of commits."""
