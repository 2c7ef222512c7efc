package models;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.IntConsumer;

/** The threads of a program: the system's, or virtual ones on one carrier. */
final class Team {
    private static ThreadFactory factory;
    private static boolean cooperative;

    private Team() {}

    /** Chooses the kind of threads. */
    static void use(String kind) {
        switch (kind) {
            case "platform" -> factory = Thread::new;
            case "virtual" -> {
                cooperative = true;
                factory = virtualFactory();
            }
            default -> throw Models.fail("`" + kind + "` is no kind of thread: say `platform` or `virtual`");
        }
    }

    static boolean isCooperative() {
        return cooperative;
    }

    /** By reflection, so that this compiles with Java 17 as well; virtual threads came with 21. */
    private static ThreadFactory virtualFactory() {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "1");
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", "1");
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            return (ThreadFactory) type.getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException missing) {
            throw Models.fail("this Java " + System.getProperty("java.version")
                    + " has no virtual threads; set JAVA_HOME to one of version 21 or later");
        }
    }

    /** Runs {@code count} threads of {@code body}, each with its number from 0, and waits for all. */
    static void run(int count, IntConsumer body) {
        run(count, Thread.NORM_PRIORITY, body);
    }

    /**
     * The same, at a priority. Virtual threads are started by one of them: what the main thread starts waits in a queue that the carrier does
     * not look at while a thread that yields is the only one in its own, so it might never run.
     */
    static void run(int count, int priority, IntConsumer body) {
        if (!cooperative) {
            startAndJoin(count, priority, body);
            return;
        }
        Thread starter = factory.newThread(() -> startAndJoin(count, priority, body));
        starter.start();
        uninterrupted(starter::join);
    }

    private static void startAndJoin(int count, int priority, IntConsumer body) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int own = i;
            Thread thread = factory.newThread(() -> body.accept(own));
            thread.setPriority(priority);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            uninterrupted(thread::join);
        }
    }

    /** Something that waits. */
    @FunctionalInterface
    interface Waiting {
        void run() throws Exception;
    }

    /** Waits; nobody interrupts these threads. */
    static void uninterrupted(Waiting waiting) {
        try {
            waiting.run();
        } catch (Exception unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }
}
