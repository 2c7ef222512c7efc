package kit;

import java.util.Locale;
import java.util.function.LongSupplier;

/** Frames: batches of slices in the order control, test, test, control, and single slices. */
final class Slices {
    private enum Role {
        CONTROL,
        TEST,
        REFERENCE;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final int BLOCKS_MOST = 100_000;
    private static final Role[] WITH_REFERENCE = {
        Role.REFERENCE, Role.CONTROL, Role.TEST, Role.TEST, Role.CONTROL, Role.REFERENCE
    };
    private static final Role[] WITHOUT_REFERENCE = {Role.CONTROL, Role.TEST, Role.TEST, Role.CONTROL};

    private record Slice(
            Role role, long iterations, long start, long end, Resources before, Resources after, String processor, long checksum) {
        void answer(int block, Answer answer) {
            answer.line(
                    "slice %d %s %d %d %d %s %s %s",
                    block,
                    role.word(),
                    iterations,
                    start,
                    end - start,
                    Resources.between(before, after),
                    processor,
                    Long.toUnsignedString(checksum));
        }
    }

    private final LongSupplier ownSwitches;

    /** The test that stays prepared between requests for its slices. */
    private Frames kept;

    private Test keptTest;
    private long keptArgument;

    Slices(LongSupplier ownSwitches) {
        this.ownSwitches = ownSwitches;
    }

    private static long run(Frames frames, Role role, long iterations) throws Exception {
        return switch (role) {
            case CONTROL -> frames.control(iterations);
            case TEST -> frames.test(iterations);
            case REFERENCE -> Chains.sixteen(iterations);
        };
    }

    /** Between the two readings of the clock there is the frame and nothing else. */
    private Slice timed(Frames frames, Role role, long iterations) throws Exception {
        Resources before = Resources.now(ownSwitches);
        long start = System.nanoTime();
        long checksum = run(frames, role, iterations);
        long end = System.nanoTime();
        Resources after = Resources.now(ownSwitches);
        String[] stat = Proc.stat("thread-self");
        frames.reset();
        return new Slice(role, iterations, start, end, before, after, stat[Proc.PROCESSOR], checksum);
    }

    private static void untimed(Frames frames, Role role, long iterations) throws Exception {
        if (iterations > 0) {
            run(frames, role, iterations);
            frames.reset();
        }
    }

    private static long iterations(Test test, Request request, String key, long least) throws Refused {
        long iterations = request.number(key, least, Long.MAX_VALUE);
        test.check(key, iterations);
        return iterations;
    }

    void batch(Test test, Request request, Answer answer) throws Exception {
        request.expect(1, "batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]");
        long argument = test.argument(request);
        long iterations = iterations(test, request, "iterations", 1);
        int blocks = (int) request.number("blocks", 1, BLOCKS_MOST);
        long reference = request.number("reference", 0, Long.MAX_VALUE);
        long warmup = iterations(test, request, "warmup", 0);
        Role[] order = reference > 0 ? WITH_REFERENCE : WITHOUT_REFERENCE;
        Slice[] slices = new Slice[blocks * order.length];
        Threads.forgetReports();
        Threads.startReporting();
        try (Frames frames = (Frames) test.prepare(argument)) {
            untimed(frames, Role.CONTROL, warmup);
            untimed(frames, Role.TEST, warmup);
            frames.reports().forEach(Threads::report);
            Threads.stopReporting();
            for (int i = 0; i < slices.length; i++) {
                Role role = order[i % order.length];
                slices[i] = timed(frames, role, role == Role.REFERENCE ? reference : iterations);
            }
            Threads.startReporting();
            untimed(frames, Role.TEST, 1);
            frames.reports().forEach(Threads::report);
        } finally {
            Threads.stopReporting();
        }
        for (int i = 0; i < slices.length; i++) {
            slices[i].answer(i / order.length, answer);
        }
        Threads.answerReports(answer);
    }

    void slice(Test test, Request request, Answer answer) throws Exception {
        request.expect(2, "slice NAME ROLE iterations=N warmup=W [arg=A]");
        long argument = test.argument(request);
        Role role = role(request.words.get(2));
        long iterations = iterations(test, request, "iterations", 1);
        long warmup = iterations(test, request, "warmup", 0);
        if (keptTest != test || keptArgument != argument) {
            finish();
            kept = (Frames) test.prepare(argument);
            keptTest = test;
            keptArgument = argument;
        }
        try {
            untimed(kept, role, warmup);
            timed(kept, role, iterations).answer(0, answer);
        } catch (Exception error) {
            finish();
            throw error;
        }
    }

    private static Role role(String word) throws Refused {
        for (Role role : Role.values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        throw Refused.badArgument("the role must be control, test or reference, not '" + word + "'");
    }

    /** Finishes the test that slices were asked of, if any. */
    void finish() throws Exception {
        Frames frames = kept;
        kept = null;
        keptTest = null;
        if (frames != null) {
            frames.close();
        }
    }
}
