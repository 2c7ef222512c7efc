package shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Tasks that start at a barrier and work until time is up. Before they are timed they run for slices of 10 ms until the virtual machine has
 * warmed up: until three slices in a row were no more than 5 % better than the best before them, and 5 slices at least. What they do then is not counted.
 */
final class Team {
    /** Between two looks at whether time is up a task does so many operations. */
    static final int OPERATIONS_A_LOOK = 64;

    private static final int SLICE_MS = 10;
    private static final int SLICES_LEAST = 5;
    private static final int SLICES_MOST = 50;
    private static final int NO_BETTER = 3;
    private static final double BETTER = 1.05;

    /** What a task did. */
    static final class Task {
        final int number;
        long operations;
        long updates;
        long longestWaitNs;

        /** How many operations it does whether or not time is up. */
        private final long least;

        private long random;

        Task(int number, long least) {
            this.number = number;
            this.least = least;
            random = 88172645463325252L + number * 0x9E3779B97F4A7C15L;
        }

        /** A pseudo-random number below 1000 (xorshift), by which operations become reads or writes. */
        int permille() {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            return (int) ((random >>> 32) * 1000 >>> 32);
        }
    }

    /** What a task does until time is up. */
    @FunctionalInterface
    interface Work {
        void run(Task task);
    }

    /** What tasks did, how long it was from just before their start until time was up, and what the whole process used of the processors meanwhile, ns. */
    record Done(Task[] tasks, long elapsedNs, long cpuNs) {
        long operations() {
            long sum = 0;
            for (Task task : tasks) {
                sum += task.operations;
            }
            return sum;
        }

        long updates() {
            long sum = 0;
            for (Task task : tasks) {
                sum += task.updates;
            }
            return sum;
        }

        private double nsAnOperation() {
            return (double) elapsedNs / Math.max(operations(), 1);
        }
    }

    private static volatile boolean timeIsUp;

    private Team() {}

    static boolean timeIsUp() {
        return timeIsUp;
    }

    /** Whether a task is to do another look's operations. */
    static boolean goesOn(Task task) {
        return !timeIsUp || task.operations < task.least;
    }

    static Done run(int count, int timeMs, Work work) {
        return run(count, timeMs, 0, work);
    }

    private static Done run(int count, int timeMs, long least, Work work) {
        timeIsUp = false;
        Task[] tasks = new Task[count];
        Thread[] threads = new Thread[count];
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch start = new CountDownLatch(1);
        CountDownLatch worked = new CountDownLatch(count);
        CountDownLatch leave = new CountDownLatch(1);
        for (int i = 0; i < count; i++) {
            Task task = new Task(i, least);
            tasks[i] = task;
            threads[i] =
                    new Thread(
                            () -> {
                                ready.countDown();
                                await(start);
                                work.run(task);
                                worked.countDown();
                                await(leave); // a thread's processor time can be read while it lives
                            });
            threads[i].start();
        }
        await(ready);
        Map<Path, Long> before = processorTimesNs();
        long began = System.nanoTime();
        start.countDown();
        try {
            Thread.sleep(timeMs);
            long elapsedNs = System.nanoTime() - began; // what a task does after this is less than one look's
            timeIsUp = true;
            await(worked);
            long cpuNs = usedSinceNs(before);
            leave.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            return new Done(tasks, elapsedNs, cpuNs);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    /** What threads have used since then, those of the compiler and the collector among them; of one that has ended nothing is known. */
    private static long usedSinceNs(Map<Path, Long> before) {
        return processorTimesNs().entrySet().stream()
                .mapToLong(now -> now.getValue() - before.getOrDefault(now.getKey(), 0L))
                .sum();
    }

    /** What each thread that lives has used. The JDK's own figure, of the whole process, has steps of 10 ms. */
    private static Map<Path, Long> processorTimesNs() {
        Map<Path, Long> times = new HashMap<>();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                try {
                    times.put(thread, Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]));
                } catch (IOException ended) {
                    continue; // between our looking and our reading
                }
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return times;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Runs slices until the virtual machine has warmed up; gives how long that took, ns. */
    static long warmUp(int count, Work work) {
        return warmUp(count, SLICES_LEAST, work);
    }

    static long warmUp(int count, int slicesLeast, Work work) {
        long began = System.nanoTime();
        double best = Double.MAX_VALUE;
        int noBetter = 0;
        for (int slice = 0; slice < SLICES_MOST && (slice < slicesLeast || noBetter < NO_BETTER); slice++) {
            double now = run(count, SLICE_MS, work).nsAnOperation();
            noBetter = now * BETTER < best ? 0 : noBetter + 1;
            best = Math.min(best, now);
        }
        return System.nanoTime() - began;
    }

    /** The cost of an operation in slices of so many ms from the start, ps, by the clock of the task; each does one look's operations at least. */
    static long[] curve(int slices, int sliceMs, Work work) {
        long[] costs = new long[slices];
        for (int i = 0; i < slices; i++) {
            long[] ownNs = new long[1];
            Work timed =
                    task -> {
                        long began = System.nanoTime();
                        work.run(task);
                        ownNs[0] = System.nanoTime() - began;
                    };
            Done done = run(1, sliceMs, 1, timed);
            costs[i] = Math.round(new Done(done.tasks(), ownNs[0], done.cpuNs()).nsAnOperation() * 1000);
        }
        return costs;
    }
}
