"""Requests that give a sequence of times: readings of a clock, its gaps, latencies, series."""

import time

from kit import threads
from kit.answer import Refused, encode
from kit.frames import MOST, call, report_others
from kit.request import number
from kit.resources import wait_between
from kit.tests import Exhausted

READINGS_MOST = 1_000_000
GAPS_MOST = 200_000
READINGS_A_LOOK = 1024

# The first is the one that slices are timed with.
CLOCKS = {
    "time.monotonic_ns": time.monotonic_ns,
    "time.perf_counter_ns": time.perf_counter_ns,
    "time.time_ns": time.time_ns,
    "time.process_time_ns": time.process_time_ns,
    "time.thread_time_ns": time.thread_time_ns,
}
OWN_CLOCK = "time.monotonic_ns"


def clock_named(name):
    if name not in CLOCKS:
        raise Refused("unknown-clock", f"{name}; `list` names the clocks")
    return CLOCKS[name]


def clock(request, answer):
    name, count = request.expect(2, "clock NAME COUNT")
    read = clock_named(name)
    readings = [0] * number("COUNT", count, 1, READINGS_MOST)
    threads.forget_reports()
    threads.report_main()
    for i in range(len(readings)):
        readings[i] = read()
    threads.report_main()
    answer.readings(readings)
    threads.answer_reports(answer)


def gaps(request, meter, answer):
    (name,) = request.expect(1, "gaps NAME time=NS over=D")
    read = clock_named(name)
    time_ns = request.number("time", 1_000_000, 60_000_000_000)
    over = request.number("over", 0, MOST)
    threads.forget_reports()
    threads.report_main()
    before = meter.now()
    kept, readings, elapsed, count, lost = watch(read, time_ns, over)
    after = meter.now()
    threads.report_main()
    for start, gap in kept:
        answer.line(f"gap {start} {gap}")
    wait = wait_between(before, after)
    answer.line(f"loop readings={readings} elapsed={elapsed} wait={wait} gaps={count} lost={lost}")
    threads.answer_reports(answer)


def watch(read, time_ns, over):
    """The gaps of a loop. The last readings follow the look that found the time over."""
    kept = [(-1, -1)] * GAPS_MOST
    readings, count, lost = 1, 0, 0
    first = last = read()
    end = time.monotonic_ns() + time_ns
    time_over = False
    while not time_over:
        time_over = time.monotonic_ns() >= end
        for _ in range(READINGS_A_LOOK):
            now = read()
            gap = now - last
            if gap > over:
                if count < GAPS_MOST:
                    kept[count] = (last - first, gap)
                count += 1
                lost += gap
            last = now
        readings += READINGS_A_LOOK
    return kept[:count], readings, max(last - first, 0), count, lost


def wait_until(moment):
    """Sleep ends late, so the last of the waiting is spent looking at the clock."""
    spin = 150_000
    left = moment - time.monotonic_ns()
    if left > spin:
        time.sleep((left - spin) / 1e9)
    while time.monotonic_ns() < moment:
        pass


def latency(test, argument, request, answer):
    request.expect(1, "latency NAME count=C interval=T [arg=A]")
    count = request.number("count", 1, READINGS_MOST)
    interval = request.number("interval", 0, 1_000_000_000_000)
    samples = [None] * count
    threads.forget_reports()
    threads.start_reporting()
    prepared = None
    try:
        prepared = test.prepare(argument)
        prepared.operate()
        report_others(prepared)
        threads.stop_reporting()
        first = time.monotonic_ns()
        for i in range(count):
            if interval:
                intended = first + i * interval
                wait_until(intended)
            else:
                intended = time.monotonic_ns()
            samples[i] = (intended, *prepared.operate())
        threads.start_reporting()
        prepared.operate()
        report_others(prepared)
    finally:
        threads.stop_reporting()
        call(prepared, "close")
    for intended, actual, end in samples:
        answer.line(f"sample {intended} {actual} {end}")
    threads.answer_reports(answer)


def series(test, argument, request, answer):
    request.expect(1, "series NAME count=C [arg=A]")
    count = request.number("count", 1, READINGS_MOST)
    readings = [0] * (count + 1)
    threads.forget_reports()
    threads.report_main()
    prepared, completed, refused = None, 0, None
    try:
        prepared = test.prepare(argument)
        readings[0] = time.monotonic_ns()
        while completed < count:
            prepared.turn(completed + 1)
            completed += 1
            readings[completed] = time.monotonic_ns()
    except (Exhausted, MemoryError) as error:
        refused = str(error) or type(error).__name__
    finally:
        call(prepared, "close")
        del prepared
    threads.report_main()  # when there is storage again
    answer.readings(readings[: completed + 1])
    end = "count" if refused is None else f"exhausted text={encode(refused)}"
    answer.line(f"outcome completed={completed} end={end}")
    threads.answer_reports(answer)
