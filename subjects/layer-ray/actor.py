"""The call of a Ray actor, which stands beside an operation on an object that another process owns."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Otherwise Ray writes a token into the user's home.
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

import kit
import ray


@ray.remote(num_cpus=0)
class Number:
    """The same object as in `layer-orca`."""

    def __init__(self):
        self._value = 0

    def increment_by_length(self, argument):
        self._value += len(argument) + 1
        return self._value

    def report(self):
        return os.getpid(), str(kit.threads.of_this_thread("partner"))


class Local:
    """Ray on this machine, begun with the first test, where the placement wants it."""

    def __init__(self):
        self._folder = None
        self._placement = kit.Placement(None, None)

    def place(self, placement):
        self._placement = placement

    def begin(self):
        if self._folder is not None:
            return
        self._folder = tempfile.mkdtemp(prefix="antiphon-ray-")
        main, partner = self._placement
        if partner is not None:
            # Ray's processes inherit the place of the thread that starts them.
            os.sched_setaffinity(0, {partner})
        # Standard output is the protocol's.
        with contextlib.redirect_stdout(sys.stderr):
            ray.init(
                num_cpus=1,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="warning",
                object_store_memory=100 << 20,
                _temp_dir=self._folder,
            )
        if main is not None:
            # Ray's threads in this process belong to the one that is timed.
            kit.pin_process(os.getpid(), main)

    def end(self):
        if self._folder is not None:
            ray.shutdown()
            shutil.rmtree(self._folder, ignore_errors=True)


LOCAL = Local()


class Call:
    """One call after the other. Each waits for its result."""

    def __init__(self, size):
        LOCAL.begin()
        self._argument = bytes([7]) * size
        self._number = Number.remote()
        self._process, _ = ray.get(self._number.report.remote())
        self._value = 0

    def control(self, iterations):
        total = 0
        for i in range(iterations):
            total += i
        return total

    def test(self, iterations):
        total = 0
        for i in range(iterations):
            value = ray.get(self._number.increment_by_length.remote(self._argument))
            self._value += len(self._argument) + 1
            if value != self._value:
                raise kit.Failed(f"the number is {value} instead of {self._value}")
            total += i
        return total

    def reports(self):
        _, report = ray.get(self._number.report.remote())
        fields = dict(field.split("=", 1) for field in report.split(" "))
        fields["priority"], fields["processor"] = int(fields["priority"]), int(fields["processor"])
        return [kit.Report(**fields)]

    def close(self):
        ray.kill(self._number)


try:
    kit.serve("Python", [kit.Frame("object.remote", Call, arg="bytes", threads=2)], on_placement=LOCAL.place)
finally:
    LOCAL.end()
