package models;

/** The work that all languages do alike. */
final class Work {
    private Work() {}

    /** A loop of {@code work} dependent steps. */
    static int busy(int seed, int work) {
        int x = seed;
        for (int i = 1; i <= work; i++) {
            x = x * 3 + i;
        }
        return x;
    }

    /** Real work: {@code work} steps with a remainder each. */
    static int compute(int value, int work) {
        int x = value;
        for (int i = 1; i <= work; i++) {
            x = x * 3 + x % i;
        }
        return x;
    }
}
