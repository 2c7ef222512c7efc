package kit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Speaks the subject protocol (docs/reference/subject-protocol.md) for any Java program that is measured: it lists its tests, and serves the laboratory's
 * requests until it has had enough.
 *
 * <pre>{@code
 * new Subject("Java", List.of(Test.frame("lock.free", argument -> new Lock()))).serve();
 * }</pre>
 *
 * <p>What a test prepares is made before the warm-up and closed after the last slice. Partner threads are started by {@link
 * Threads#startPartner}, which knows the placement, and call {@link Threads#takesPart} once an operation. Nothing is done about the virtual
 * machine's warming up: the laboratory asks for as much warm-up as it wants.
 */
public final class Subject {
    /** What a placement asks for besides, such as moving the processes of partners. */
    @FunctionalInterface
    public interface Placed {
        void placed(Threads.Placement placement) throws IOException;
    }

    private final String language;
    private final Map<String, Test> tests = new LinkedHashMap<>();
    private LongSupplier ownSwitches;
    private Placed onPlacement = placement -> {};
    private boolean placed;
    private Slices slices;

    public Subject(String language, List<Test> tests) {
        this.language = language;
        for (List<Test> some : List.of(OwnTests.ALL, tests)) {
            some.forEach(test -> this.tests.put(test.name, test));
        }
    }

    /** Counts context switches itself: those so far, of all processes that take part. */
    public Subject ownSwitches(LongSupplier count) {
        ownSwitches = count;
        return this;
    }

    public Subject onPlacement(Placed placed) {
        onPlacement = placed;
        return this;
    }

    /** Answers requests from standard input until {@code quit} or its end, on the thread that measures, and ends the program. */
    public void serve() throws IOException {
        slices = new Slices(ownSwitches);
        InputStream input = new BufferedInputStream(System.in);
        boolean ended = false;
        while (!ended) {
            try {
                String line = Request.line(input);
                if (line == null) {
                    break;
                }
                Request request = new Request(line);
                Answer answer = new Answer();
                serve(request, answer);
                answer.close();
                ended = request.verb().equals("quit");
            } catch (Refused refused) {
                Answer.refuse(refused.code, refused.getMessage());
            } catch (Exception | StackOverflowError | OutOfMemoryError | AssertionError failure) {
                // Whatever a test does is its failure, and the next request is served.
                Answer.refuse("failed", failure.toString());
            }
        }
        System.exit(0);
    }

    private void serve(Request request, Answer answer) throws Exception {
        if (!request.verb().equals("slice") && !List.of("hello", "list", "clock", "gaps", "usage").contains(request.verb())) {
            slices.finish();
        }
        switch (request.verb()) {
            case "hello" -> hello(request, answer);
            case "list" -> list(request, answer);
            case "clock" -> Clocks.clock(request, answer);
            case "gaps" -> Clocks.gaps(request, answer, ownSwitches);
            case "placement" -> place(request);
            case "batch" -> slices.batch(named(request).asked(Test.Kind.FRAME), request, answer);
            case "slice" -> slices.slice(named(request).asked(Test.Kind.FRAME), request, answer);
            case "latency" -> Sequences.latency(named(request).asked(Test.Kind.LATENCY), request, answer);
            case "series" -> Sequences.series(named(request).asked(Test.Kind.SERIES), request, answer);
            case "usage" -> {
                request.expect(0, "usage");
                Resources.answerUsage(answer);
            }
            case "quit" -> request.expect(0, "quit");
            default -> throw new Refused("unknown-request", request.verb());
        }
    }

    private void hello(Request request, Answer answer) throws Refused {
        String version = request.expect(1, "hello VERSION").word(1);
        if (Request.number("VERSION", version, 0, Long.MAX_VALUE) != 1) {
            throw new Refused("version", "speaks 1");
        }
        String switches = ownSwitches == null ? "" : " switches=own";
        answer.line("hello protocol=1 language=" + Answer.encode(language) + " kit=1.0 clock=" + Clocks.OWN + switches);
    }

    private void list(Request request, Answer answer) throws Refused {
        request.expect(0, "list");
        Clocks.names().forEach(name -> answer.line("clock name=" + name + " unit=ns"));
        tests.values().forEach(test -> answer.line(test.listed()));
    }

    private Test named(Request request) throws Refused {
        Test test = tests.get(request.word(1));
        if (test == null) {
            throw new Refused("unknown-test", request.word(1) + "; `list` names the tests");
        }
        return test;
    }

    private void place(Request request) throws Refused {
        if (placed) {
            throw Refused.badArgument("placement was given before; it is given once, after hello");
        }
        Threads.Placement placement = parsePlacement(request);
        try {
            Threads.place(placement);
            onPlacement.placed(placement);
        } catch (IOException error) {
            throw new Refused("unsupported", "the system does not let threads run there: " + error.getMessage());
        }
        placed = true;
    }

    private static Threads.Placement parsePlacement(Request request) throws Refused {
        int[] processors = new int[Math.max(request.words.size() - 2, 0)];
        for (int i = 0; i < processors.length; i++) {
            processors[i] = (int) Request.number("a processor", request.word(i + 2), 0, Integer.MAX_VALUE);
        }
        switch (request.word(1) + " " + processors.length) {
            case "free 0":
                return new Threads.Placement(-1, -1);
            case "same 1":
                return new Threads.Placement(processors[0], processors[0]);
            case "across 2":
                if (processors[0] == processors[1]) {
                    throw Refused.badArgument("across wants two processors; `placement same` is for one");
                }
                return new Threads.Placement(processors[0], processors[1]);
            default:
                throw Refused.badArgument("write: placement same P, placement across P Q, or placement free");
        }
    }
}
