"""The main program: one request, one answer, until the laboratory has had enough."""

import sys

from kit import frames, sequences, threads
from kit.answer import Answer, Refused, bad_argument, encode, refuse
from kit.own import TESTS
from kit.request import Request, lines, number
from kit.resources import Meter, answer_usage


def serve(language, tests, *, own_switches=None, on_placement=None):
    """Answers requests from standard input until `quit` or its end, on the thread that measures.

    `own_switches()` counts the context switches so far of all processes that take part; `on_placement(placement)` does what more a
    placement asks for, such as moving the processes of partners.
    """
    _Server(language, [*TESTS, *tests], Meter(own_switches), on_placement).run()


class _Server:
    def __init__(self, language, tests, meter, on_placement):
        self._language = language
        self._tests = {test.name: test for test in tests}
        self._meter = meter
        self._on_placement = on_placement
        self._placed = False
        self._kept = frames.Kept()

    def run(self):
        for line in lines(sys.stdin.buffer):
            answer = Answer()
            try:
                if isinstance(line, Refused):
                    raise line
                request = Request(line)
                self._serve(request, answer)
            except Refused as refused:
                refuse(refused)
            except Exception as error:  # whatever a test does is its failure, and the next request is served
                refuse(Refused("failed", f"{type(error).__name__}: {error}"))
            else:
                answer.close()
                if request.words[0] == "quit":
                    return
        self._kept.finish()

    def _serve(self, request, answer):
        verbs = {
            "hello": self._hello,
            "list": self._list,
            "clock": sequences.clock,
            "gaps": lambda request, answer: sequences.gaps(request, self._meter, answer),
            "placement": self._place,
            "batch": self._batch,
            "slice": self._slice,
            "latency": self._latency,
            "series": self._series,
            "usage": self._usage,
            "quit": self._quit,
        }
        verb = request.words[0]
        if verb not in verbs:
            raise Refused("unknown-request", verb)
        verbs[verb](request, answer)

    def _hello(self, request, answer):
        (version,) = request.expect(1, "hello VERSION")
        if number("VERSION", version, 0, 2**64 - 1) != 1:
            raise Refused("version", "speaks 1")
        switches = " switches=own" if self._meter.own else ""
        answer.line(f"hello protocol=1 language={encode(self._language)} kit=1.0 clock={sequences.OWN_CLOCK}{switches}")

    def _list(self, request, answer):
        request.expect(0, "list")
        for name in sequences.CLOCKS:
            answer.line(f"clock name={name} unit=ns")
        for test in self._tests.values():
            answer.line(test.listed())

    def _place(self, request, answer):
        self._kept.finish()
        if self._placed:
            raise bad_argument("placement was given before; it is given once, after hello")
        how, processors = request.words[1:2], [number("a processor", word, 0, 2**31) for word in request.words[2:]]
        match how, processors:
            case ["free"], []:
                placement = threads.Placement(None, None)
            case ["same"], [one]:
                placement = threads.Placement(one, one)
            case ["across"], [main, partner] if main != partner:
                placement = threads.Placement(main, partner)
            case ["across"], [_, _]:
                raise bad_argument("across wants two processors; `placement same` is for one")
            case _:
                raise bad_argument("write: placement same P, placement across P Q, or placement free")
        try:
            threads.place(placement)
            if self._on_placement:
                self._on_placement(placement)
        except OSError as error:
            raise Refused("unsupported", f"the system does not let threads run there: {error}") from error
        self._placed = True

    def _named(self, request, kind):
        name = request.words[1] if len(request.words) > 1 else ""
        if name not in self._tests:
            raise Refused("unknown-test", f"{name}; `list` names the tests")
        test = self._tests[name]
        if test.absent is not None:
            raise Refused("unsupported", f"{name}: {test.absent}")
        if test.kind != kind:
            raise bad_argument(f"{name} is a {test.kind} test, not a {kind} test")
        if test.arg is None and request.has("arg"):
            raise bad_argument(f"{name} takes no argument")
        return test, 0 if test.arg is None else request.number("arg", 0, frames.MOST)

    def _batch(self, request, answer):
        self._kept.finish()
        test, argument = self._named(request, "frame")
        request.expect(1, "batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]")
        frames.batch(test, argument, request, self._meter, answer)

    def _slice(self, request, answer):
        test, argument = self._named(request, "frame")
        self._kept.slice(test, argument, request, self._meter, answer)

    def _latency(self, request, answer):
        self._kept.finish()
        test, argument = self._named(request, "latency")
        sequences.latency(test, argument, request, answer)

    def _series(self, request, answer):
        self._kept.finish()
        test, argument = self._named(request, "series")
        sequences.series(test, argument, request, answer)

    def _usage(self, request, answer):
        request.expect(0, "usage")
        answer_usage(answer)

    def _quit(self, request, answer):
        request.expect(0, "quit")
        self._kept.finish()
