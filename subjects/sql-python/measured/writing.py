"""Statements that write. What was written is counted after each slice, untimed."""

import kit
from measured import database, driver

TOGETHER = 10  # inserts that are one operation of the transactions' tests


class Writing:
    """A table of its own, and what it must hold."""

    def __init__(self, _):
        database.own()
        self._table = database.written_table()
        self._connection = self.connect()
        driver.settle(self._connection)
        self._cursor = self._connection.cursor()
        self._create = f"CREATE TABLE {self._table} ({driver.COLUMNS})"
        self._drop = f"DROP TABLE {self._table}"
        self._insert = f"INSERT INTO {self._table} (value) VALUES (1)"
        self._cursor.execute(f"DROP TABLE IF EXISTS {self._table}")
        self._cursor.execute(self._create)
        self._written = 0

    @staticmethod
    def connect():
        return driver.connect()

    control = staticmethod(database.nothing)

    def insert(self):
        self._cursor.execute(self._insert)
        database.expect(self._cursor.rowcount, 1)
        self._written += 1

    def test(self, iterations):
        before = self._written
        for _ in range(iterations):
            self.once()
        return self._written - before

    def reset(self):
        """Each row holds a 1, so count and sum are the rows that were written."""
        text = f"SELECT count(*), coalesce(sum(value), 0) FROM {self._table}"
        found = database.query(database.own().cursor(), text, 1)
        if found != 2 * self._written:
            raise kit.Failed(f"the table's rows and values add up to {found}, and should to {2 * self._written}")

    def close(self):
        # Whoever failed in the midst of a transaction would keep SQLite's lock for as long as a cursor is known.
        self._connection.rollback()
        self._connection.close()
        database.own().cursor().execute(f"DROP TABLE IF EXISTS {self._table}")


class Insert(Writing):
    def once(self):
        self.insert()


class InsertPrepared(Writing):
    def __init__(self, argument):
        super().__init__(argument)
        self._preparing = driver.preparing_cursor(self._connection)
        self._text = f"INSERT INTO {self._table} (value) VALUES ({driver.PARAMETER})"

    @staticmethod
    def connect():
        return driver.connect_preparing()

    def once(self):
        self._preparing.execute(self._text, (1,))
        database.expect(self._preparing.rowcount, 1)
        self._written += 1


class OneTransaction(Writing):
    def once(self):
        self._cursor.execute("BEGIN")
        for _ in range(TOGETHER):
            self.insert()
        self._cursor.execute("COMMIT")


class OneEach(Writing):
    def once(self):
        for _ in range(TOGETHER):
            self.insert()


class DropCreate(Writing):
    def test(self, iterations):
        total = 0
        for _ in range(iterations):
            self._cursor.execute(self._drop)
            self._cursor.execute(self._create)
            total += 1
        return total


TESTS = [
    kit.Frame("insert", Insert, work="sql.insert"),
    kit.Frame("insert.prepared", InsertPrepared, work="sql.insert", absent=driver.WHY_UNPREPARED),
    kit.Frame("transaction.one", OneTransaction, work="sql.transaction"),
    kit.Frame("transaction.each", OneEach, work="sql.transaction"),
    kit.Frame("drop_create", DropCreate, work="sql.drop_create"),
]
