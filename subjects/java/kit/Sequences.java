package kit;

import java.util.concurrent.locks.LockSupport;

/** Requests that give a sequence of operations' times: latencies and series. */
final class Sequences {
    private static final long SPIN_NS = 150_000;

    private Sequences() {}

    /** Sleep ends late, so the last of the waiting is spent looking at the clock. */
    private static void waitUntil(long moment) {
        while (moment - System.nanoTime() > SPIN_NS) {
            LockSupport.parkNanos(moment - System.nanoTime() - SPIN_NS);
        }
        while (System.nanoTime() - moment < 0) {
            Thread.onSpinWait();
        }
    }

    static void latency(Test test, Request request, Answer answer) throws Exception {
        request.expect(1, "latency NAME count=C interval=T [arg=A]");
        long argument = test.argument(request);
        int count = (int) request.number("count", 1, Clocks.READINGS_MOST);
        long interval = request.number("interval", 0, 1_000_000_000_000L);
        long[] intended = new long[count];
        Operation.Sample[] samples = new Operation.Sample[count];
        Threads.forgetReports();
        Threads.startReporting();
        try (Operation operation = (Operation) test.prepare(argument)) {
            operation.operate();
            operation.reports().forEach(Threads::report);
            Threads.stopReporting();
            long first = System.nanoTime();
            for (int i = 0; i < count; i++) {
                intended[i] = interval > 0 ? first + i * interval : System.nanoTime();
                if (interval > 0) {
                    waitUntil(intended[i]);
                }
                samples[i] = operation.operate();
            }
            Threads.startReporting();
            operation.operate();
            operation.reports().forEach(Threads::report);
        } finally {
            Threads.stopReporting();
        }
        for (int i = 0; i < count; i++) {
            answer.line("sample %d %d %d", intended[i], samples[i].start(), samples[i].end());
        }
        Threads.answerReports(answer);
    }

    static void series(Test test, Request request, Answer answer) throws Exception {
        request.expect(1, "series NAME count=C [arg=A]");
        long argument = test.argument(request);
        int count = (int) request.number("count", 1, Clocks.READINGS_MOST);
        long[] readings = new long[count + 1];
        int completed = 0;
        String end = "count";
        Threads.forgetReports();
        Threads.reportMain();
        try (Turns turns = (Turns) test.prepare(argument)) {
            readings[0] = System.nanoTime();
            while (completed < count) {
                turns.turn(completed + 1L);
                readings[++completed] = System.nanoTime();
            }
        } catch (OutOfMemoryError refused) {
            end = "exhausted text=" + Answer.encode(String.valueOf(refused.getMessage()));
        }
        Threads.reportMain(); // when there is storage again
        answer.readings(readings, completed + 1);
        answer.line("outcome completed=" + completed + " end=" + end);
        Threads.answerReports(answer);
    }
}
