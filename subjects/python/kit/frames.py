"""Frames: batches of slices in the order control, test, test, control, and single slices."""

import time

from kit import threads
from kit.answer import bad_argument
from kit.resources import wait_between

MOST = 2**63 - 1
BLOCKS_MOST = 100_000
ROLES = ("control", "test", "reference")
WITH_REFERENCE = ("reference", "control", "test", "test", "control", "reference")
WITHOUT_REFERENCE = ("control", "test", "test", "control")

MULTIPLIER = 6364136223846793005
ADDEND = 1442695040888963407
MASK = 2**64 - 1


def reference(iterations):
    """The operation of known cost that every subject has: 16 steps of the dependent chain an iteration."""
    x = 1
    for _ in range(iterations):
        for _ in range(16):
            x = (x * MULTIPLIER + ADDEND) & MASK
    return x


def call(prepared, method, *arguments):
    """Calls a method that a prepared object need not have."""
    found = getattr(prepared, method, None)
    return found(*arguments) if found else None


def report_others(prepared):
    for report in call(prepared, "reports") or ():
        threads.report(report)


def frame_of(prepared, role):
    return reference if role == "reference" else getattr(prepared, role)


def timed(meter, prepared, role, iterations):
    """One slice: between the two readings of the clock there is the frame and nothing else."""
    frame = frame_of(prepared, role)
    clock = time.monotonic_ns
    before = meter.now()
    start = clock()
    checksum = frame(iterations)
    end = clock()
    after = meter.now()
    processor = threads.processor()
    call(prepared, "reset")
    return role, iterations, start, end, before, after, processor, checksum


def untimed(prepared, role, iterations):
    if iterations:
        frame_of(prepared, role)(iterations)
        call(prepared, "reset")


def answer_slice(answer, block, slice):
    role, iterations, start, end, before, after, processor, checksum = slice
    switches = f"{after.voluntary - before.voluntary} {after.involuntary - before.involuntary}"
    faults = f"{after.minor - before.minor} {after.major - before.major}"
    place = "-" if processor is None else processor
    answer.line(
        f"slice {block} {role} {iterations} {start} {end - start} {switches} {faults} "
        f"{wait_between(before, after)} {place} {checksum & MASK}"
    )


def iterations_of(test, request, key, least):
    iterations = request.number(key, least, MOST)
    if test.most is not None and iterations > test.most:
        raise bad_argument(
            f"{key}={iterations}: {test.name} keeps what it takes until the slice ends; at most {test.most}"
        )
    return iterations


def batch(test, argument, request, meter, answer):
    iterations = iterations_of(test, request, "iterations", 1)
    blocks = request.number("blocks", 1, BLOCKS_MOST)
    reference_iterations = request.number("reference", 0, MOST)
    warmup = iterations_of(test, request, "warmup", 0)
    order = WITH_REFERENCE if reference_iterations else WITHOUT_REFERENCE
    slices = [None] * (blocks * len(order))
    threads.forget_reports()
    threads.start_reporting()
    prepared = None
    try:
        prepared = test.prepare(argument)
        untimed(prepared, "control", warmup)
        untimed(prepared, "test", warmup)
        report_others(prepared)
        threads.stop_reporting()
        for i in range(len(slices)):
            role = order[i % len(order)]
            slices[i] = timed(meter, prepared, role, reference_iterations if role == "reference" else iterations)
        threads.start_reporting()
        untimed(prepared, "test", 1)
        report_others(prepared)
    finally:
        threads.stop_reporting()
        call(prepared, "close")
    for i, slice in enumerate(slices):
        answer_slice(answer, i // len(order), slice)
    threads.answer_reports(answer)


class Kept:
    """The test that stays prepared between requests for its slices."""

    def __init__(self):
        self._key = self._prepared = None

    def finish(self):
        prepared, self._key, self._prepared = self._prepared, None, None
        call(prepared, "close")

    def slice(self, test, argument, request, meter, answer):
        _, role = request.expect(2, "slice NAME ROLE iterations=N warmup=W [arg=A]")
        if role not in ROLES:
            raise bad_argument(f"the role must be control, test or reference, not '{role}'")
        iterations = iterations_of(test, request, "iterations", 1)
        warmup = iterations_of(test, request, "warmup", 0)
        if self._key != (test.name, argument):
            self.finish()
            self._prepared = test.prepare(argument)
            self._key = (test.name, argument)
        try:
            untimed(self._prepared, role, warmup)
            answer_slice(answer, 0, timed(meter, self._prepared, role, iterations))
        except Exception:
            self.finish()
            raise
