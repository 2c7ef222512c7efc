package models;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Loops and synchronization by themselves. */
final class Micro {
    private Micro() {}

    /** Threads without synchronization. */
    static String loop(int[] arguments, Models.Account account) {
        AtomicInteger sum = new AtomicInteger();
        Team.run(arguments[0], own -> sum.addAndGet(Work.busy(own, arguments[1])));
        return "sum " + Integer.toUnsignedString(sum.get());
    }

    /** Two threads that hand control to each other by semaphores. */
    static String handOver(int[] arguments, Models.Account account) {
        int rounds = arguments[0];
        Semaphore[] turn = {new Semaphore(1), new Semaphore(0)};
        Team.run(2, own -> {
            for (int i = 0; i < rounds; i++) {
                turn[own].acquireUninterruptibly();
                turn[1 - own].release();
            }
        });
        account.operations = 2 * rounds;
        return "rounds " + rounds;
    }

    /** Two threads that give way to each other. */
    static String giveWay(int[] arguments, Models.Account account) {
        int rounds = arguments[0];
        Team.run(2, own -> {
            for (int i = 0; i < rounds; i++) {
                Thread.yield();
            }
        });
        account.operations = 2 * rounds;
        return "rounds " + rounds;
    }
}
