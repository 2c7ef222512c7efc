"""What the process has used so far. Read outside of timed regions."""

import resource
import threading
from typing import NamedTuple, Optional


class Resources(NamedTuple):
    voluntary: int
    involuntary: int
    minor: int
    major: int
    wait: Optional[int]


class Meter:
    """Reads resources on the measuring thread, which makes it."""

    def __init__(self, own_switches):
        self._own_switches = own_switches
        try:
            # `thread-self` is the thread that opens it, ever after.
            self._schedstat = open(f"/proc/self/task/{threading.get_native_id()}/schedstat", "rb", buffering=0)
        except OSError:
            self._schedstat = None

    @property
    def own(self):
        return self._own_switches is not None

    def now(self):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        voluntary, involuntary = usage.ru_nvcsw, usage.ru_nivcsw
        if self._own_switches:
            voluntary, involuntary = self._own_switches(), 0
        return Resources(voluntary, involuntary, usage.ru_minflt, usage.ru_majflt, self._wait())

    def _wait(self):
        """The second of three numbers: time on the processor, time ready but not running, slices. A kernel without such an account has no
        file, or zeros in it."""
        if self._schedstat is None:
            return None
        self._schedstat.seek(0)
        on_processor, wait, _ = self._schedstat.read(96).split()
        return int(wait) if int(on_processor) > 0 else None


def wait_between(before, after):
    return "-" if before.wait is None or after.wait is None else str(after.wait - before.wait)


def answer_usage(answer):
    """The peak is VmHWM: ru_maxrss would still hold the peak of the parent that this process was forked from."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    status = {}
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            status[key] = value.split()
    peak = int(status.get("VmHWM", [usage.ru_maxrss])[0])
    threads = status.get("Threads", ["0"])[0]
    answer.line(
        f"usage user={int(usage.ru_utime * 1e9)} system={int(usage.ru_stime * 1e9)} peak_rss={peak * 1024} "
        f"minor={usage.ru_minflt} major={usage.ru_majflt} voluntary={usage.ru_nvcsw} involuntary={usage.ru_nivcsw} threads={threads}"
    )
