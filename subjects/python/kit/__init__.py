"""Speaks the subject protocol (docs/reference/subject-protocol.md) for any Python program that is measured.

A program lists its tests and serves the laboratory's requests until it has had enough::

    class Lock:
        def __init__(self, argument):
            self.lock = threading.Lock()

        def control(self, iterations):
            total = 0
            for i in range(iterations):
                total += i
            return total

        def test(self, iterations):
            total = 0
            for i in range(iterations):
                with self.lock:
                    pass
                total += i
            return total

    kit.serve("Python", [kit.Frame("lock.free", Lock)])

What is prepared is an object: it is made with the argument (0 if the test takes none) before the warm-up. Of its methods ``reset`` is
called, untimed, after each slice, ``reports`` before and after what is timed, ``close`` at the end; those that it lacks are left out. An
exception that leaves a frame is the failure of its test. Threads are started by :func:`start_partner`, which knows the placement, and call
:func:`takes_part` once an operation.
"""

from kit.answer import Failed
from kit.serve import serve
from kit.tests import Exhausted, Frame, Latency, Series
from kit.threads import Placement, Report, pin_process, start_partner, takes_part

__all__ = [
    "Exhausted",
    "Failed",
    "Frame",
    "Latency",
    "Placement",
    "Report",
    "Series",
    "pin_process",
    "serve",
    "start_partner",
    "takes_part",
]
