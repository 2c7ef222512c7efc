"""One test of each kind that the kit serves: what Python's own means to synchronize and to take storage cost."""

import threading
import time

import kit


class Lock:
    """A lock that nobody else wants."""

    def __init__(self, _):
        self._lock = threading.Lock()

    def control(self, iterations):
        total = 0
        for i in range(iterations):
            total += i
        return total

    def test(self, iterations):
        total = 0
        for i in range(iterations):
            with self._lock:
                pass
            total += i
        return total


class Start:
    """From before a thread is started to its first statement."""

    def operate(self):
        began = []

        def body():
            began.append(time.monotonic_ns())
            kit.takes_part("partner")

        start = time.monotonic_ns()
        kit.start_partner(body).join()
        return start, began[0]


class Storage:
    """Storage that is taken and kept until the series ends."""

    def __init__(self, size):
        self._size = size
        self._kept = []

    def turn(self, index):
        self._kept.append(bytes([index % 256]) * self._size)


kit.serve(
    "Python",
    [
        kit.Frame("lock.free", Lock),
        kit.Latency("thread.start", lambda _: Start(), threads=2),
        kit.Series("storage.kept", Storage, arg="bytes"),
    ],
)
