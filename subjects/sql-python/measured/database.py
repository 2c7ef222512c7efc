"""The process's own connection and its tables."""

import functools

import kit
from measured import driver
from measured.told import told

ROWS_MOST = 1000


def rows_table():
    """Of `ROWS_MOST` rows of known values, never changed."""
    return told("TABLE") + "_rows"


def written_table():
    """For tests that write."""
    return told("TABLE") + "_written"


@functools.cache
def own():
    """Open from the first preparation on, so that SQLite's file never loses its last user, which would make it tidy up."""
    connection = driver.connect()
    driver.settle(connection)
    driver.lengthen_log(connection)
    table = rows_table()
    # The row with key k holds 7919 k mod 10007, in all languages.
    cursor = connection.cursor()
    cursor.execute(f"DROP TABLE IF EXISTS {table}")
    cursor.execute(f"CREATE TABLE {table} ({driver.COLUMNS})")
    cursor.execute("BEGIN")
    for key in range(1, ROWS_MOST + 1):
        cursor.execute(f"INSERT INTO {table} (id, value) VALUES ({key}, {7919 * key % 10007})")
    cursor.execute("COMMIT")
    cursor.close()
    return connection


def expect(rows, wanted):
    """A statement that met other rows than it should is a failure, never a time."""
    if rows != wanted:
        raise kit.Failed(f"{rows} rows in place of {wanted}")


def query(cursor, text, wanted, *parameters):
    """Every column of every row, added up."""
    total = rows = 0
    cursor.execute(text, *parameters)
    for row in driver.rows(cursor):
        for column in row:
            total += column
        rows += 1
    expect(rows, wanted)
    return total


def nothing(iterations):
    """The control: the loop without the statement."""
    total = 0
    for i in range(iterations):
        total += i
    return total
