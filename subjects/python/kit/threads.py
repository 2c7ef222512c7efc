"""Where threads run, and what they say of it."""

import collections
import os
import threading
from typing import NamedTuple, Optional


class Placement(NamedTuple):
    """The processors of the main thread and of its partners; None: wherever the system puts them."""

    main: Optional[int]
    partner: Optional[int]


class Report(NamedTuple):
    """What a thread says of itself. Its text is that of a `@@ thread` line without `count`, so a partner process can hand it on."""

    role: str
    policy: str
    priority: int
    processor: int
    allowed: str

    def __str__(self):
        return " ".join(f"{key}={value}" for key, value in self._asdict().items())


_POLICIES = {os.SCHED_OTHER: "other", os.SCHED_FIFO: "fifo", os.SCHED_RR: "rr"}
_partner_processor = None
_reporting = False
_reports = collections.Counter()
_lock = threading.Lock()


def place(placement):
    """Puts this thread and all others of the process where they belong."""
    global _partner_processor
    _partner_processor = placement.partner
    if placement.partner is not None:
        pin_process(os.getpid(), placement.partner)
    if placement.main is not None:
        os.sched_setaffinity(0, {placement.main})


def pin_process(process, processor):
    """Lets every thread that a process has now run on one processor alone; threads that they start later inherit it."""
    for _ in range(2):  # threads that start meanwhile inherit their starter's place, which a second pass has set
        for thread in os.listdir(f"/proc/{process}/task"):
            try:
                os.sched_setaffinity(int(thread), {processor})
            except ProcessLookupError:
                pass


def start_partner(body, *arguments):
    """A thread, started where the placement wants it."""

    def placed():
        if _partner_processor is not None:
            os.sched_setaffinity(0, {_partner_processor})
        body(*arguments)

    thread = threading.Thread(target=placed)
    thread.start()
    return thread


def processor():
    """The processor that the calling thread is on, None where the system does not tell."""
    try:
        with open("/proc/thread-self/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[36])
    except (OSError, IndexError):
        return None


def of_this_thread(role):
    allowed = sorted(os.sched_getaffinity(0))
    policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
    priority = os.sched_getparam(0).sched_priority
    return Report(role, _POLICIES.get(policy, str(policy)), priority, processor() or 0, _ranges(allowed))


def _ranges(processors):
    """0 1 2 5 as `0-2,5`."""
    runs = []
    for processor in processors:
        if runs and runs[-1][1] == processor - 1:
            runs[-1][1] = processor
        else:
            runs.append([processor, processor])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def takes_part(role):
    """What each thread that a test starts calls, at each operation: it reports in untimed iterations, and costs little in timed ones."""
    if _reporting:
        report(of_this_thread(role))


def report(report):
    with _lock:
        _reports[report] += 1


def report_main():
    report(of_this_thread("main"))


def start_reporting():
    global _reporting
    _reporting = True
    report_main()


def stop_reporting():
    global _reporting
    _reporting = False


def forget_reports():
    with _lock:
        _reports.clear()


def answer_reports(answer):
    with _lock:
        for report, count in _reports.items():
            answer.line(f"thread {report} count={count}")
