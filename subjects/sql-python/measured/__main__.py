"""Databases from Python by the DB-API: sqlite3 of the standard library, psycopg, MariaDB Connector/Python."""

import kit

from measured import clients, reading, writing

kit.serve("Python", [*reading.TESTS, *writing.TESTS, *clients.TESTS])
