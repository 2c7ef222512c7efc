"""PostgreSQL by psycopg2, which sends all as text."""

import psycopg2
from measured.of_postgresql import address

WHY_UNPREPARED = "psycopg2 has no prepared statements; psycopg 3 has them"


def connect():
    """Without transactions that nobody asked for, which this driver would open."""
    connection = psycopg2.connect(**address())
    connection.autocommit = True
    return connection
