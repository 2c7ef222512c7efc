package examined;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import kit.Frames;
import kit.Operation;
import kit.Subject;
import kit.Test;
import kit.Threads;
import kit.Turns;

/** One test of each kind that the kit serves: what Java's own means to synchronize and to take storage cost. */
public final class Examined {
    private Examined() {}

    public static void main(String[] arguments) throws IOException {
        new Subject(
                        "Java",
                        List.of(
                                Test.frame("lock.free", argument -> new Lock()),
                                Test.latency("thread.start", argument -> new Start()).threads(2),
                                Test.series("storage.kept", Storage::new).arg("bytes")))
                .serve();
    }

    /** A lock that nobody else wants. */
    private static final class Lock implements Frames {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        public long control(long iterations) {
            long sum = 0;
            for (long i = 0; i < iterations; i++) {
                sum += i;
            }
            return sum;
        }

        @Override
        public long test(long iterations) {
            long sum = 0;
            for (long i = 0; i < iterations; i++) {
                lock.lock();
                try {
                    sum += i;
                } finally {
                    lock.unlock();
                }
            }
            return sum;
        }
    }

    /** From before a thread is started to its first statement. */
    private static final class Start implements Operation {
        @Override
        public Sample operate() throws InterruptedException {
            long[] began = new long[1];
            long start = System.nanoTime();
            Threads.startPartner(
                            () -> {
                                began[0] = System.nanoTime();
                                Threads.takesPart("partner");
                            })
                    .join();
            return new Sample(start, began[0]);
        }
    }

    /** Storage that is taken and kept until the series ends. */
    private static final class Storage implements Turns {
        private final int bytes;
        private final List<byte[]> kept = new ArrayList<>();

        Storage(long bytes) {
            this.bytes = (int) Math.min(bytes, Integer.MAX_VALUE);
        }

        @Override
        public void turn(long index) {
            byte[] block = new byte[bytes];
            Arrays.fill(block, (byte) index);
            kept.add(block);
        }
    }
}
