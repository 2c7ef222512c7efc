"""Several connections at once, each with a thread of its own: an operation is a query of ten rows by each of them.

The threads wait at a barrier before a slice and at another after it; the control is the same without queries.
"""

import functools
import threading

import kit
from measured import database, driver

ROWS = 10


class Client:
    """A connection, and what its thread did in the last slice."""

    def __init__(self):
        self.connection = driver.connect()
        self.total = 0
        self.error = None


class Clients:
    def __init__(self, many, _):
        database.own()
        self._text = f"SELECT * FROM {database.rows_table()} LIMIT {ROWS}"
        self._begin = threading.Barrier(many + 1)
        self._end = threading.Barrier(many + 1)
        self._clients = []
        self._threads = []
        self._order = None
        try:
            for _ in range(many):
                self._clients.append(Client())
            for client in self._clients:
                self._threads.append(kit.start_partner(self._body, client))
        except Exception:
            self.close()
            raise

    def _body(self, client):
        try:
            while True:
                self._begin.wait()
                if self._order is None:
                    return
                self._serve(client, *self._order)
                self._end.wait()
        except threading.BrokenBarrierError:
            pass

    def _serve(self, client, iterations, queries):
        cursor, text, total = client.connection.cursor(), self._text, 0
        try:
            for i in range(iterations):
                kit.takes_part("client")
                total += database.query(cursor, text, ROWS) if queries else i
        except Exception as error:
            client.error = error
        client.total = total

    def _go(self, *order):
        self._order = order
        self._begin.wait()
        self._end.wait()
        for client in self._clients:
            if client.error:
                raise client.error
        return sum(client.total for client in self._clients)

    def control(self, iterations):
        return self._go(iterations, False)

    def test(self, iterations):
        return self._go(iterations, True)

    def close(self):
        self._order = None
        self._begin.abort()
        self._end.abort()
        for thread in self._threads:
            thread.join()
        for client in self._clients:
            client.connection.close()


TESTS = [
    kit.Frame(
        f"concurrent.{many}",
        functools.partial(Clients, many),
        threads=many + 1,
        work=f"sql.concurrent.{many}",
    )
    for many in (1, 2, 4, 8, 16)
]
