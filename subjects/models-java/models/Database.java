package models;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Readers and writers. A write changes both halves of the database and gives way between; a reader that sees halves that differ has seen a
 * torn write.
 */
final class Database {
    /** Says who may enter, and when. */
    private interface Gate {
        void enterReader();

        void leaveReader();

        void enterWriter();

        void leaveWriter();
    }

    private final Gate gate;
    private final int work;
    private int firstHalf;
    private int secondHalf;
    private final AtomicInteger torn = new AtomicInteger();

    private Database(Gate gate, int work) {
        this.gate = gate;
        this.work = work;
    }

    /** The library's lock; the fair one, as neither readers nor writers may starve. */
    static String concurrent(int[] arguments, Models.Account account) {
        ReadWriteLock lock = new ReentrantReadWriteLock(true);
        return access(arguments, new Gate() {
            public void enterReader() {
                lock.readLock().lock();
            }

            public void leaveReader() {
                lock.readLock().unlock();
            }

            public void enterWriter() {
                lock.writeLock().lock();
            }

            public void leaveWriter() {
                lock.writeLock().unlock();
            }
        });
    }

    /** Each gives way until it may enter. */
    static String cooperative(int[] arguments, Models.Account account) {
        return access(arguments, new Gate() {
            private int reading;
            private int writing;
            private int waiting;

            public void enterReader() {
                while (writing > 0 || waiting > 0) {
                    Thread.yield();
                }
                reading++;
            }

            public void leaveReader() {
                reading--;
            }

            public void enterWriter() {
                waiting++;
                while (reading > 0 || writing > 0) {
                    Thread.yield();
                }
                waiting--;
                writing++;
            }

            public void leaveWriter() {
                writing--;
            }
        });
    }

    private static String access(int[] arguments, Gate gate) {
        int readers = arguments[0];
        int writers = arguments[1];
        int rounds = arguments[2];
        Database database = new Database(gate, arguments[3]);
        AtomicInteger sum = new AtomicInteger();
        Team.run(readers + writers, own -> {
            int x = own;
            for (int i = 0; i < rounds; i++) {
                x = Work.busy(x, database.work);
                x = own < readers ? database.read(x) : database.write(x);
            }
            sum.addAndGet(x);
        });
        return "reads " + readers * rounds + " writes " + database.secondHalf + " torn " + database.torn.get() + " sum "
                + Integer.toUnsignedString(sum.get());
    }

    private int read(int seed) {
        gate.enterReader();
        int first = firstHalf;
        int x = Work.busy(seed, work);
        Thread.yield();
        if (secondHalf != first) {
            torn.incrementAndGet();
        }
        gate.leaveReader();
        return x;
    }

    private int write(int seed) {
        gate.enterWriter();
        firstHalf++;
        int x = Work.busy(seed, work);
        Thread.yield();
        secondHalf++;
        gate.leaveWriter();
        return x;
    }
}
