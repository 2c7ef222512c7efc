"""MariaDB by PyMySQL, which is written in Python and sends all as text."""

import pymysql
from measured.of_mariadb import address

WHY_UNPREPARED = "PyMySQL has no prepared statements; MariaDB's own connector has them"


def connect():
    """Without transactions that nobody asked for.

    Without TLS, too, for which this driver would read all certificates at each connection, whether or not the server offers it.
    """
    return pymysql.connect(**address(), autocommit=True, ssl_disabled=True)
