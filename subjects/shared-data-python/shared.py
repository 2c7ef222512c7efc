"""Runs tasks over data that they share, a counter or a cache, protected in several ways (docs/explanation/shared-data.md).

counter_WAY TASKS MS, cache_WAY TASKS WRITES_PER_MILLE MS, starve_WAY READERS MS. Python has no readers-writer lock.
"""

import itertools
import sys
import threading
import time

# Between two looks at whether time is up a task does so many operations.
OPERATIONS_A_LOOK = 64
KEYS = 128

time_is_up = False


class Task:
    """What a thread did."""

    def __init__(self, number):
        self.number = number
        self.operations = 0
        self.updates = 0
        self.longest_wait_ns = 0
        self.random = 88172645463325252 + number

    def permille(self):
        """A pseudo-random number below 1000 (a linear congruence of 31 bits), by which operations become reads or writes."""
        self.random = (self.random * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.random >> 11) % 1000


def run_tasks(count, time_ms, work):
    """What tasks did that start at a barrier and work until time is up, and how long that was, ns."""
    global time_is_up
    ready, start = threading.Semaphore(0), threading.Event()

    def body(task):
        ready.release()
        start.wait()
        work(task)

    tasks = [Task(number) for number in range(count)]
    threads = [threading.Thread(target=body, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire()
    # Before the start: after it tasks work already, while this thread may have to wait for a processor.
    began, used = time.monotonic_ns(), time.process_time_ns()
    start.set()
    time.sleep(time_ms / 1000)
    elapsed = time.monotonic_ns() - began  # what a task does after this is less than one look's
    time_is_up = True
    for thread in threads:
        thread.join()
    print(f"@@ run cpu_ns={time.process_time_ns() - used}")
    return tasks, elapsed


# --- the counter: every task adds one as often as it can -----------------------------------------------------------------

unprotected = 0
indivisible = itertools.count()  # its step is one of the interpreter's own, which nothing interrupts
lock = threading.Lock()
locked = 0


def without(task):
    global unprotected
    while not time_is_up:
        for _ in range(OPERATIONS_A_LOOK):
            unprotected += 1
        task.operations += OPERATIONS_A_LOOK


def atomically(task):
    while not time_is_up:
        for _ in range(OPERATIONS_A_LOOK):
            next(indivisible)
        task.operations += OPERATIONS_A_LOOK


def by_lock(task):
    global locked
    while not time_is_up:
        for _ in range(OPERATIONS_A_LOOK):
            with lock:
                locked += 1
        task.operations += OPERATIONS_A_LOOK


COUNTERS = {
    "unsafe": (without, lambda: unprotected),
    "atomic": (atomically, lambda: next(indivisible)),
    "locked": (by_lock, lambda: locked),
}


def run_counter(way, count, time_ms):
    if way not in COUNTERS:
        fail(f"there is no program `counter_{way}`")
    work, value = COUNTERS[way]
    tasks, elapsed = run_tasks(count, time_ms, work)
    operations, kept = sum(task.operations for task in tasks), value()
    if kept != operations and way != "unsafe":
        fail(f"{way} lost increments: {kept} of {operations} are left")
    print(f"counter, tasks {count}\n@@ run elapsed_ns={elapsed} operations={operations} kept={kept}")


# --- the cache: tasks look words up, and now and then one of them adds to the count of a word ----------------------------------


class Locked:
    def __init__(self, words):
        self._map = dict.fromkeys(words, 0)
        self._lock = threading.Lock()

    def read(self, key):
        with self._lock:
            return self._map[key]

    def write(self, key):
        with self._lock:
            self._map[key] += 1

    def sum(self):
        return sum(self._map.values())


class Weak:
    """A dictionary that is never changed, only replaced. Of two writers that copy at once the later one wins."""

    def __init__(self, words):
        self._map = dict.fromkeys(words, 0)

    def read(self, key):
        return self._map[key]

    def write(self, key):
        replaced = self._map.copy()
        replaced[key] += 1
        self._map = replaced

    def sum(self):
        return sum(self._map.values())


class Copied(Weak):
    """Its writers take turns, so that every update is in the next copy."""

    def __init__(self, words):
        super().__init__(words)
        self._turn = threading.Lock()

    def write(self, key):
        with self._turn:
            super().write(key)


CACHES = {"lock": Locked, "copy": Copied, "weak": Weak}


def all_words():
    """New ones each time: those that are looked up are equal to those in the map, but not the same, as a program's mostly are."""
    return [f"key {number}" for number in range(KEYS)]


WORDS = all_words()


def run_cache(way, count, writes, time_ms):
    if way not in CACHES:
        fail(f"there is no program `cache_{way}`")
    cache = CACHES[way](all_words())

    def work(task):
        key = task.number
        while not time_is_up:
            for _ in range(OPERATIONS_A_LOOK):
                key = (key + 7) % KEYS
                if task.permille() < writes:
                    cache.write(WORDS[key])
                    task.updates += 1
                else:
                    cache.read(WORDS[key])
            task.operations += OPERATIONS_A_LOOK

    tasks, elapsed = run_tasks(count, time_ms, work)
    operations = sum(task.operations for task in tasks)
    updates, kept = sum(task.updates for task in tasks), cache.sum()
    if kept != updates and way != "weak":
        fail(f"{way} lost updates: {kept} of {updates} are left")
    print(f"cache, tasks {count}, writes {writes}")
    print(f"@@ run elapsed_ns={elapsed} operations={operations} updates={updates} kept={kept}")


def run_starve(way, readers, time_ms):
    """The last task writes, each time as soon as it may; the others read without a pause."""
    if way not in CACHES or way == "weak":
        fail(f"there is no program `starve_{way}`")
    cache = CACHES[way](all_words())

    def work(task):
        key = task.number
        writes = task.number == readers
        while not time_is_up or writes and not task.updates:  # a writer goes on until it has written once, whenever that is
            key = (key + 7) % KEYS
            if not writes:
                cache.read(WORDS[key])
                task.operations += 1
                continue
            began = time.monotonic_ns()
            cache.write(WORDS[key])
            task.longest_wait_ns = max(task.longest_wait_ns, time.monotonic_ns() - began)
            task.updates += 1
            time.sleep(0)

    tasks, elapsed = run_tasks(readers + 1, time_ms, work)
    operations = sum(task.operations for task in tasks)
    writer = tasks[readers]
    print(f"one writer, readers {readers}")
    print(
        f"@@ run elapsed_ns={elapsed} whole_ns={elapsed} operations={operations} updates={writer.updates} "
        f"longest_wait_ns={writer.longest_wait_ns}"
    )


def fail(text):
    sys.exit(text)


PROGRAMS = {
    "counter": (run_counter, "TASKS MS", [(1, 64), (1, 60000)]),
    "cache": (run_cache, "TASKS WRITES_PER_MILLE MS", [(1, 64), (0, 1000), (1, 60000)]),
    "starve": (run_starve, "READERS MS", [(1, 63), (1, 60000)]),
}


def main(words):
    name = words[0] if words else ""
    program, _, way = name.partition("_")
    if program not in PROGRAMS:
        fail(f"there is no program `{name}`")
    run, usage, limits = PROGRAMS[program]
    if len(words) != 1 + len(limits):
        fail(f"write: {name} {usage}")
    for word, (least, most) in zip(words[1:], limits):
        if not (word.isascii() and word.isdigit() and least <= int(word) <= most):
            fail(f"`{word}` must be a number from {least} to {most}")
    run(way, *map(int, words[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
