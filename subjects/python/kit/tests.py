"""What a subject lists."""

from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Optional

from kit.answer import encode


class Exhausted(Exception):
    """For a series: the system refused what the turn asked for."""


@dataclass(frozen=True)
class Test:
    """A test: its name, what is prepared for it, and what `list` says of it besides."""

    name: str
    prepare: Callable[[int], Any]
    arg: Optional[str] = None  # the argument's unit: ns, bytes, count
    switches: Optional[str] = None  # context switches of an operation under placement same
    threads: int = 1  # that take part in an operation
    work: Optional[str] = None  # key of equal work across subjects
    most: Optional[int] = None  # iterations that a slice may have
    absent: Optional[str] = None  # why it cannot run here, and what would mend it
    kind: ClassVar[str]

    def listed(self):
        fields = {
            "arg": self.arg,
            "switches": self.switches,
            "threads": self.threads if self.threads > 1 else None,
            "work": self.work,
            "most": self.most,
            "absent": self.absent,
        }
        given = (f" {key}={encode(str(value))}" for key, value in fields.items() if value is not None)
        return f"test name={self.name} kind={self.kind}" + "".join(given)


class Frame(Test):
    """A cost per operation: the object has `control(iterations)` and `test(iterations)`, which give checksums."""

    kind = "frame"


class Latency(Test):
    """A distribution: the object has `operate()`, which gives start and end, ns of `time.monotonic_ns`."""

    kind = "latency"


class Series(Test):
    """Clock readings of a loop: the object has `turn(index)`, which raises `Exhausted` or `MemoryError` where storage is refused."""

    kind = "series"
