package kit;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** The clocks of Java, and what is asked of them alone. The first is the one that slices are timed with. */
final class Clocks {
    static final String OWN = "System.nanoTime";
    static final int READINGS_MOST = 1_000_000;
    private static final int GAPS_MOST = 200_000;
    private static final int READINGS_A_LOOK = 1024;

    private static final Map<String, LongSupplier> ALL = new LinkedHashMap<>();

    static {
        ALL.put(OWN, System::nanoTime);
        ALL.put("System.currentTimeMillis", () -> System.currentTimeMillis() * 1_000_000);
        ALL.put("Instant.now", Clocks::instant);
    }

    private Clocks() {}

    private static long instant() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }

    static Iterable<String> names() {
        return ALL.keySet();
    }

    private static LongSupplier named(String name) throws Refused {
        LongSupplier clock = ALL.get(name);
        if (clock == null) {
            throw new Refused("unknown-clock", name + "; `list` names the clocks");
        }
        return clock;
    }

    static void clock(Request request, Answer answer) throws Refused {
        request.expect(2, "clock NAME COUNT");
        LongSupplier clock = named(request.word(1));
        long[] readings = new long[(int) Request.number("COUNT", request.word(2), 1, READINGS_MOST)];
        Threads.forgetReports();
        Threads.reportMain();
        for (int i = 0; i < readings.length; i++) {
            readings[i] = clock.getAsLong();
        }
        Threads.reportMain();
        answer.readings(readings, readings.length);
        Threads.answerReports(answer);
    }

    static void gaps(Request request, Answer answer, LongSupplier ownSwitches) throws Refused {
        request.expect(1, "gaps NAME time=NS over=D");
        LongSupplier clock = named(request.word(1));
        long time = request.number("time", 1_000_000, 60_000_000_000L);
        Watch watch = new Watch(request.number("over", 0, Long.MAX_VALUE));
        Threads.forgetReports();
        Threads.reportMain();
        Resources before = Resources.now(ownSwitches);
        watch.run(clock, time);
        Resources after = Resources.now(ownSwitches);
        Threads.reportMain();
        for (int i = 0; i < Math.min(watch.gaps, GAPS_MOST); i++) {
            answer.line("gap " + watch.starts[i] + " " + watch.durations[i]);
        }
        answer.line(
                "loop readings=%d elapsed=%d wait=%s gaps=%d lost=%d",
                watch.readings, watch.elapsed, Resources.wait(before, after), watch.gaps, watch.lost);
        Threads.answerReports(answer);
    }

    /** The gaps of a loop. */
    private static final class Watch {
        private final long over;
        private final long[] starts = new long[GAPS_MOST];
        private final long[] durations = new long[GAPS_MOST];
        private long readings = 1;
        private long elapsed;
        private long gaps;
        private long lost;

        Watch(long over) {
            this.over = over;
        }

        /** The last readings follow the look that found the time over. */
        void run(LongSupplier clock, long time) {
            long first = clock.getAsLong();
            long last = first;
            long end = System.nanoTime() + time;
            boolean timeOver = false;
            while (!timeOver) {
                timeOver = System.nanoTime() - end >= 0;
                for (int i = 0; i < READINGS_A_LOOK; i++) {
                    long now = clock.getAsLong();
                    if (now - last > over) {
                        keep(last - first, now - last);
                    }
                    last = now;
                }
                readings += READINGS_A_LOOK;
            }
            elapsed = Math.max(last - first, 0);
        }

        private void keep(long start, long duration) {
            if (gaps < GAPS_MOST) {
                starts[(int) gaps] = start;
                durations[(int) gaps] = duration;
            }
            gaps++;
            lost += duration;
        }
    }
}
