package kit;

/**
 * The dependent chain that the reference and the kit's own tests are made of. Multiplier and addend are no constants for the compiler, which would
 * otherwise make one step of several; each chain is a method of its own, so that two are two copies.
 */
final class Chains {
    private static long multiplier = 6364136223846793005L;
    private static long addend = 1442695040888963407L;

    private Chains() {}

    static long sixteen(long iterations) {
        long x = 1;
        long m = multiplier;
        long a = addend;
        for (long i = 0; i < iterations; i++) {
            x = ((x * m + a) * m + a) * m + a;
            x = ((x * m + a) * m + a) * m + a;
            x = ((x * m + a) * m + a) * m + a;
            x = ((x * m + a) * m + a) * m + a;
            x = ((x * m + a) * m + a) * m + a;
            x = x * m + a;
        }
        return x;
    }

    static long twenty(long iterations) {
        long x = 1;
        long m = multiplier;
        long a = addend;
        for (long i = 0; i < iterations; i++) {
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
        }
        return x;
    }

    static long twentyAgain(long iterations) {
        long x = 1;
        long m = multiplier;
        long a = addend;
        for (long i = 0; i < iterations; i++) {
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
        }
        return x;
    }

    static long twentyOne(long iterations) {
        long x = 1;
        long m = multiplier;
        long a = addend;
        for (long i = 0; i < iterations; i++) {
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = (((x * m + a) * m + a) * m + a) * m + a;
            x = x * m + a;
        }
        return x;
    }
}
