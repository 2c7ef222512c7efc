"""MariaDB by mysqlclient (MySQLdb) over the system's libmariadb, which sends all as text."""

import MySQLdb
from measured.of_mariadb import address

WHY_UNPREPARED = "mysqlclient has no prepared statements; MariaDB's own connector has them"


def connect():
    """Without transactions that nobody asked for, which this driver would open, and without TLS."""
    return MySQLdb.connect(**address(), autocommit=True, ssl_mode="DISABLED")
