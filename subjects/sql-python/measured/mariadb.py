"""MariaDB by its own connector: statements as text, prepared ones by the binary protocol."""

import mariadb
from measured.of_mariadb import address

PARAMETER = "?"
WHY_UNPREPARED = None


def connect():
    """Without transactions that nobody asked for, which this driver would open."""
    return mariadb.connect(**address(), autocommit=True, ssl=False, ssl_verify_cert=False)


connect_preparing = connect


def preparing_cursor(connection):
    """A statement is prepared at its first use."""
    return connection.cursor(prepared=True, binary=True)
