package models;

import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Dining philosophers. */
final class Dining {
    private Dining() {}

    /** A semaphore a fork; the last philosopher takes the right fork first. */
    static String concurrent(int[] arguments, Models.Account account) {
        int philosophers = arguments[0];
        int meals = arguments[1];
        int work = arguments[2];
        Semaphore[] forks = new Semaphore[philosophers];
        Arrays.setAll(forks, i -> new Semaphore(1));
        AtomicInteger sum = new AtomicInteger();
        Team.run(philosophers, own -> {
            int next = (own + 1) % philosophers;
            Semaphore first = forks[Math.min(own, next)];
            Semaphore second = forks[Math.max(own, next)];
            int x = own;
            for (int i = 0; i < meals; i++) {
                x = Work.busy(x, work); // think
                first.acquireUninterruptibly();
                second.acquireUninterruptibly();
                x = Work.busy(x, work); // eat
                first.release();
                second.release();
            }
            sum.addAndGet(x);
        });
        return told(philosophers * meals, sum.get());
    }

    /** Gives way until both forks are there. */
    static String cooperative(int[] arguments, Models.Account account) {
        int philosophers = arguments[0];
        int meals = arguments[1];
        int work = arguments[2];
        boolean[] free = new boolean[philosophers];
        Arrays.fill(free, true);
        int[] sum = new int[1];
        Team.run(philosophers, own -> {
            int next = (own + 1) % philosophers;
            int x = own;
            for (int i = 0; i < meals; i++) {
                x = Work.busy(x, work); // think
                while (!(free[own] && free[next])) {
                    Thread.yield();
                }
                free[own] = false;
                free[next] = false;
                x = Work.busy(x, work); // eat
                free[own] = true;
                free[next] = true;
            }
            sum[0] += x;
        });
        return told(philosophers * meals, sum[0]);
    }

    private static String told(int meals, int sum) {
        return "meals " + meals + " sum " + Integer.toUnsignedString(sum);
    }
}
