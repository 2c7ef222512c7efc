"""Connections and queries."""

import functools

import kit
from measured import database, driver


class Connect:
    """Connect, SELECT 1, close."""

    def __init__(self, _):
        database.own()

    control = staticmethod(database.nothing)

    def test(self, iterations):
        connect = driver.connect
        total = 0
        for _ in range(iterations):
            connection = connect()
            try:
                total += database.query(connection.cursor(), "SELECT 1", 1)
            finally:
                connection.close()
        return total


class NoResult:
    """A statement without a result."""

    def __init__(self, _):
        self._cursor = database.own().cursor()

    control = staticmethod(database.nothing)

    def test(self, iterations):
        cursor, text, total = self._cursor, driver.NO_RESULT, 0
        for _ in range(iterations):
            cursor.execute(text)
            total += 1
        return total

    def close(self):
        self._cursor.close()


class Query:
    """A query that is sent as text each time."""

    def __init__(self, text, rows):
        self._cursor = database.own().cursor()
        self._text = text
        self._rows = rows

    control = staticmethod(database.nothing)

    def test(self, iterations):
        cursor, text, rows = self._cursor, self._text, self._rows
        total = 0
        for _ in range(iterations):
            total += database.query(cursor, text, rows)
        return total

    def close(self):
        self._cursor.close()


class Prepared:
    """A query that is prepared once, with its rows as the parameter."""

    def __init__(self, rows, _):
        database.own()
        self._rows = rows
        self._connection = driver.connect_preparing()
        self._cursor = driver.preparing_cursor(self._connection)
        self._text = f"SELECT * FROM {database.rows_table()} {driver.FIRST} {driver.PARAMETER}"

    control = staticmethod(database.nothing)

    def test(self, iterations):
        cursor, text, rows = self._cursor, self._text, self._rows
        total = 0
        for _ in range(iterations):
            total += database.query(cursor, text, rows, (rows,))
        return total

    def close(self):
        self._connection.close()


def rows(count, _):
    return Query(f"SELECT * FROM {database.rows_table()} LIMIT {count}", count)


TESTS = [
    kit.Frame("connect", Connect, work="sql.connect"),
    kit.Frame("do.1", NoResult, work="sql.do.1"),
    kit.Frame("select.1", lambda _: Query("SELECT 1", 1), work="sql.select.1"),
    *(
        kit.Frame(f"rows.{count}", functools.partial(rows, count), work=f"sql.rows.{count}")
        for count in (1, 10, 50, 100, 200, 500, 1000)
    ),
    *(
        kit.Frame(
            f"prepared.{count}",
            functools.partial(Prepared, count),
            work=f"sql.rows.{count}",
            absent=driver.WHY_UNPREPARED,
        )
        for count in (1, 10, 100, 1000)
    ),
]
