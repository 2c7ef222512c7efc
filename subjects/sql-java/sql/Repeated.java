package sql;

import kit.Frames;

/** An operation that is repeated; the control is the loop without it. */
abstract class Repeated implements Frames {
    /** Gives what it adds to the checksum. */
    abstract long once() throws Exception;

    @Override
    public long control(long iterations) {
        long sum = 0;
        for (long i = 0; i < iterations; i++) {
            sum += i;
        }
        return sum;
    }

    @Override
    public long test(long iterations) throws Exception {
        long sum = 0;
        for (long i = 0; i < iterations; i++) {
            sum += once();
        }
        return sum;
    }
}
