package models;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Two threads with long loops and no synchronization: how often does the processor go from one to the other? At normal or at high priority;
 * alone, or while the collector runs again and again.
 */
final class Sharing {
    private Sharing() {}

    static String normal(int[] arguments, Models.Account account) {
        return share(arguments, account, Thread.NORM_PRIORITY);
    }

    static String high(int[] arguments, Models.Account account) {
        return share(arguments, account, Thread.MAX_PRIORITY);
    }

    static String collecting(int[] arguments, Models.Account account) {
        return whileCollecting(() -> normal(arguments, account));
    }

    static String highCollecting(int[] arguments, Models.Account account) {
        return whileCollecting(() -> high(arguments, account));
    }

    private static String share(int[] arguments, Models.Account account, int priority) {
        int chunks = arguments[0];
        int work = arguments[1];
        AtomicInteger latest = new AtomicInteger(-1);
        AtomicInteger turns = new AtomicInteger();
        AtomicInteger sum = new AtomicInteger();
        Team.run(2, priority, own -> {
            int x = own;
            for (int i = 0; i < chunks; i++) {
                x = Work.busy(x, work);
                if (latest.getAndSet(own) != own) {
                    turns.incrementAndGet();
                }
            }
            sum.addAndGet(x);
        });
        account.turns = turns.get();
        return "sum " + Integer.toUnsignedString(sum.get());
    }

    /** A thread of the system's asks for collections meanwhile, every few milliseconds. */
    private static String whileCollecting(java.util.function.Supplier<String> program) {
        AtomicBoolean over = new AtomicBoolean();
        Thread collector = new Thread(() -> {
            while (!over.get()) {
                System.gc();
                Team.uninterrupted(() -> Thread.sleep(5));
            }
        });
        collector.setDaemon(true);
        collector.start();
        try {
            return program.get();
        } finally {
            over.set(true);
        }
    }
}
