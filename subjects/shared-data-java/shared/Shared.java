package shared;

/**
 * Runs tasks over data that they share, a counter or a cache, protected in several ways (docs/explanation/shared-data.md): {@code counter_WAY TASKS MS},
 * {@code cache_WAY TASKS WRITES_PER_MILLE MS}, {@code starve_WAY READERS MS}, {@code warm_WHAT SLICES SLICE_MS}.
 */
public final class Shared {
    private Shared() {}

    public static void main(String[] words) {
        String name = words.length > 0 ? words[0] : "";
        int cut = name.indexOf('_');
        String way = name.substring(cut + 1);
        switch (cut < 0 ? "" : name.substring(0, cut)) {
            case "counter" -> Counters.run(way, parse(words, "TASKS MS", 1, 1));
            case "cache" -> Caches.run(way, parse(words, "TASKS WRITES_PER_MILLE MS", 1, 0, 1));
            case "starve" -> Caches.starve(way, parse(words, "READERS MS", 1, 1));
            case "warm" -> warm(way, parse(words, "SLICES SLICE_MS", 2, 1));
            default -> throw fail("there is no program `" + name + "`");
        }
    }

    /** The cost of an operation in each slice from the start of the program, and the least of them, which a warm program has. */
    private static void warm(String what, int[] arguments) {
        Team.Work work =
                switch (what) {
                    case "counter" -> new Counters()::byLock;
                    case "cache" -> Caches.warming();
                    default -> throw fail("there is no program `warm_" + what + "`");
                };
        long began = System.nanoTime();
        long[] costs = Team.curve(arguments[0], arguments[1], work);
        StringBuilder line = new StringBuilder("@@ run elapsed_ns=" + (System.nanoTime() - began));
        long least = Long.MAX_VALUE;
        for (int i = 0; i < costs.length; i++) {
            line.append(" slice_").append(i + 1).append("=").append(costs[i]);
            least = Math.min(least, costs[i]);
        }
        System.out.println("slices " + arguments[0] + "\n" + line + " warm=" + least);
    }

    private static int[] parse(String[] words, String usage, int... least) {
        if (words.length != least.length + 1) {
            throw fail("write: " + words[0] + " " + usage);
        }
        int[] values = new int[least.length];
        for (int i = 0; i < values.length; i++) {
            try {
                values[i] = Integer.parseInt(words[i + 1]);
            } catch (NumberFormatException error) {
                values[i] = -1;
            }
            if (values[i] < least[i] || values[i] > 60000) {
                throw fail("`" + words[i + 1] + "` must be a number from " + least[i] + " to 60000");
            }
        }
        return values;
    }

    /** Ends the program with a message. */
    static RuntimeException fail(String text) {
        System.err.println(text);
        System.exit(1);
        return new IllegalStateException(text);
    }
}
