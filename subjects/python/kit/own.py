"""The kit's own tests, by which the method is tried."""

import threading

from kit.frames import ADDEND, MASK, MULTIPLIER
from kit.tests import Frame
from kit.threads import start_partner, takes_part


def chain(steps):
    """A function of its own for each call: two of the same steps are copies."""

    def run(iterations):
        x = 1
        for _ in range(iterations):
            for _ in range(steps):
                x = (x * MULTIPLIER + ADDEND) & MASK
        return x

    return run


class Chains:
    def __init__(self, control, test):
        self.control = chain(control)
        self.test = chain(test)


class Handoff:
    """Control given to a partner thread and back: the simplest operation that blocks."""

    def __init__(self, _):
        self._there, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._exchanged = 0
        self._ending = False
        self._partner = start_partner(self._answer)

    def _answer(self):
        while True:
            self._there.acquire()
            if self._ending:
                return
            takes_part("partner")
            self._exchanged += 1
            self._back.release()

    def control(self, iterations):
        self._exchanged = 0
        total = 0
        for _ in range(iterations):
            self._there.release()
            self._back.acquire()
            total += self._exchanged
        return total

    test = control

    def close(self):
        self._ending = True
        self._there.release()
        self._partner.join()


TESTS = [
    Frame("self.same", lambda _: Chains(20, 20), work="self.same"),
    Frame("self.dearer", lambda _: Chains(20, 21), work="self.dearer"),
    Frame("self.handoff", Handoff, threads=2),
]
