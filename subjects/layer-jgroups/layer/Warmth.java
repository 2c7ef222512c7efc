package layer;

/**
 * Runs a new group until it becomes no faster: the virtual machine translates what has run often, and does so on the processors that are measured.
 */
final class Warmth {
    private static final int BYTES = 100;
    private static final long ALONE = 250;
    private static final long TOGETHER = 2_500;
    private static final int CONTROLS = 5;

    /** Rounds in succession none of which was the fastest so far. */
    private static final int NO_FASTER = 8;

    private static final long MOST_NS = 4_000_000_000L;

    private Warmth() {}

    static void raise(Company company) throws Exception {
        Company.Group group = company.withBytes(BYTES);
        long end = System.nanoTime() + MOST_NS;
        long fastest = Long.MAX_VALUE;
        for (int since = 0; since < NO_FASTER && System.nanoTime() - end < 0; since++) {
            long took = round(group);
            // Also run often, between slices.
            company.switches();
            if (took < fastest) {
                fastest = took;
                since = 0;
            }
        }
    }

    private static long round(Company.Group group) throws Exception {
        long start = System.nanoTime();
        group.alone(ALONE);
        group.settleAlone(ALONE);
        group.together(TOGETHER);
        for (int i = 0; i < CONTROLS; i++) {
            group.together(0);
        }
        return System.nanoTime() - start;
    }
}
