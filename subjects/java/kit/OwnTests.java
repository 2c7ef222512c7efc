package kit;

import java.util.List;
import java.util.concurrent.Semaphore;

/** The kit's own tests, by which the method is tried. */
final class OwnTests {
    static final List<Test> ALL =
            List.of(
                    Test.frame("self.same", argument -> new Same()).work("self.same"),
                    Test.frame("self.dearer", argument -> new Dearer()).work("self.dearer"),
                    Test.frame("self.handoff", argument -> new Handoff()).threads(2));

    private OwnTests() {}

    private static final class Same implements Frames {
        @Override
        public long control(long iterations) {
            return Chains.twenty(iterations);
        }

        @Override
        public long test(long iterations) {
            return Chains.twentyAgain(iterations);
        }
    }

    private static final class Dearer implements Frames {
        @Override
        public long control(long iterations) {
            return Chains.twenty(iterations);
        }

        @Override
        public long test(long iterations) {
            return Chains.twentyOne(iterations);
        }
    }

    /** Control given to a partner thread and back: the simplest operation that blocks. */
    private static final class Handoff implements Frames {
        private final Semaphore there = new Semaphore(0);
        private final Semaphore back = new Semaphore(0);
        private final Thread partner = Threads.startPartner(this::answer);
        private long exchanged;
        private boolean ending;

        private void answer() throws InterruptedException {
            for (there.acquire(); !ending; there.acquire()) {
                Threads.takesPart("partner");
                exchanged++;
                back.release();
            }
        }

        @Override
        public long control(long iterations) throws InterruptedException {
            long sum = 0;
            exchanged = 0;
            for (long i = 0; i < iterations; i++) {
                there.release();
                back.acquire();
                sum += exchanged;
            }
            return sum;
        }

        @Override
        public long test(long iterations) throws InterruptedException {
            return control(iterations);
        }

        @Override
        public void close() {
            ending = true;
            there.release();
            try {
                partner.join();
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
