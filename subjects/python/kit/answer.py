"""Answers: put together in memory, and written at once when they are whole."""

import sys

# A line stays below 65536 bytes: a reading or difference takes 21 at most.
READINGS_A_LINE = 3000


class Refused(Exception):
    """A request that is not served: a code of the protocol and why."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Failed(Exception):
    """For a test to raise: it failed, in these words."""


def bad_argument(text):
    return Refused("bad-argument", text)


def encode(value):
    """A field's value, with %XX where the protocol wants it."""
    special = (c <= " " or c in "%=\x7f" for c in value)
    return "".join(f"%{ord(c):02X}" if odd else c for c, odd in zip(value, special))


class Answer:
    def __init__(self):
        self._lines = []

    def line(self, text):
        self._lines.append(f"@@ {text}\n")

    def readings(self, readings):
        for begin in range(0, len(readings), READINGS_A_LINE):
            part = readings[begin : begin + READINGS_A_LINE]
            words = [str(part[0])]
            words += [str(after - before) for before, after in zip(part, part[1:])]
            self.line("readings " + " ".join(words))

    def close(self):
        _write("".join(self._lines) + "@@ ok\n")


def refuse(error):
    text = "".join(c if c.isprintable() else " " for c in str(error))
    _write(f"@@ error {error.code} {text[:1000]}\n")


def _write(text):
    sys.stdout.write(text)
    sys.stdout.flush()
