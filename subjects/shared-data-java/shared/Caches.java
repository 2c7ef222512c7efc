package shared;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.IntStream;

/** The cache: tasks look words up, and now and then one of them adds to the count of a word. */
final class Caches {
    private static final int KEYS = 128;
    private static final String[] WORDS = allWords();

    /**
     * Where nine tasks are in each other's way, costs of slices differ so much that three in a row are soon no better, and what the compiler takes back, as a task comes where none came
     * before, it has compiled again 100 ms later: so many slices at least.
     */
    private static final int STARVING_SLICES = 20;

    /** New ones each time: those that are looked up are equal to those in the map, but not the same, as a program's mostly are. */
    private static String[] allWords() {
        return IntStream.range(0, KEYS).mapToObj(number -> "key " + number).toArray(String[]::new);
    }

    /** A way to protect a map. */
    private interface Cache {
        long read(String key);

        /** Adds one to the count of a word. */
        void write(String key);

        long sum();
    }

    private static Map<String, Long> words() {
        Map<String, Long> map = new HashMap<>();
        for (String word : allWords()) {
            map.put(word, 0L);
        }
        return map;
    }

    private static long sum(Map<String, Long> map) {
        return map.values().stream().mapToLong(Long::longValue).sum();
    }

    private static final class Synchronized implements Cache {
        private final Map<String, Long> map = words();

        @Override
        public synchronized long read(String key) {
            return map.get(key);
        }

        @Override
        public synchronized void write(String key) {
            map.merge(key, 1L, Long::sum);
        }

        @Override
        public synchronized long sum() {
            return Caches.sum(map);
        }
    }

    private static final class ReadersWriter implements Cache {
        private final Map<String, Long> map = words();
        private final ReadWriteLock lock = new ReentrantReadWriteLock();

        @Override
        public long read(String key) {
            lock.readLock().lock();
            try {
                return map.get(key);
            } finally {
                lock.readLock().unlock();
            }
        }

        @Override
        public void write(String key) {
            lock.writeLock().lock();
            try {
                map.merge(key, 1L, Long::sum);
            } finally {
                lock.writeLock().unlock();
            }
        }

        @Override
        public long sum() {
            return Caches.sum(map);
        }
    }

    /**
     * Readers look without a lock, and again under one if somebody wrote meanwhile. What they see then may be half written: they may do this since no key ever comes
     * or goes, so that writers change nothing but the counts, each by one store.
     */
    private static final class Stamped implements Cache {
        private final Map<String, Long> map = words();
        private final StampedLock lock = new StampedLock();

        @Override
        public long read(String key) {
            long stamp = lock.tryOptimisticRead();
            long found = map.get(key);
            if (lock.validate(stamp)) {
                return found;
            }
            stamp = lock.readLock();
            try {
                return map.get(key);
            } finally {
                lock.unlockRead(stamp);
            }
        }

        @Override
        public void write(String key) {
            long stamp = lock.writeLock();
            try {
                map.merge(key, 1L, Long::sum);
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        @Override
        public long sum() {
            return Caches.sum(map);
        }
    }

    /** The library's map for many threads: readers take no lock, and a writer takes that of the word's place. */
    private static final class Concurrent implements Cache {
        private final Map<String, Long> map = new ConcurrentHashMap<>(words());

        @Override
        public long read(String key) {
            return map.get(key);
        }

        @Override
        public void write(String key) {
            map.merge(key, 1L, Long::sum);
        }

        @Override
        public long sum() {
            return Caches.sum(map);
        }
    }

    /** A map that is never changed, only replaced. Of two writers that copy at once the later one wins. */
    private static class Weak implements Cache {
        private volatile Map<String, Long> map = words();

        @Override
        public long read(String key) {
            return map.get(key);
        }

        @Override
        public void write(String key) {
            Map<String, Long> replaced = new HashMap<>(map);
            replaced.merge(key, 1L, Long::sum);
            map = replaced;
        }

        @Override
        public long sum() {
            return Caches.sum(map);
        }
    }

    /** Its writers take turns, so that every update is in the next copy. */
    private static final class Copied extends Weak {
        @Override
        public synchronized void write(String key) {
            super.write(key);
        }
    }

    private Caches() {}

    private static Cache of(String program, String way) {
        return switch (way) {
            case "lock" -> new Synchronized();
            case "rwlock" -> new ReadersWriter();
            case "stamped" -> new Stamped();
            case "concurrent" -> new Concurrent();
            case "copy" -> new Copied();
            case "weak" -> new Weak();
            default -> throw Shared.fail("there is no program `" + program + "_" + way + "`");
        };
    }

    private static Team.Work work(Cache cache, int writes) {
        return task -> {
            int key = task.number;
            long found = 0;
            while (Team.goesOn(task)) {
                for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                    key = (key + 7) % KEYS;
                    if (task.permille() < writes) {
                        cache.write(WORDS[key]);
                        task.updates++;
                    } else {
                        found += cache.read(WORDS[key]);
                    }
                }
                task.operations += Team.OPERATIONS_A_LOOK;
            }
            if (found < 0) {
                throw Shared.fail("a count went below 0"); // and so no lookup can be left out
            }
        };
    }

    static void run(String way, int[] arguments) {
        long warmUpNs = Team.warmUp(arguments[0], work(of("cache", way), arguments[1]));
        Cache cache = of("cache", way);
        Team.Done done = Team.run(arguments[0], arguments[2], work(cache, arguments[1]));
        long kept = cache.sum();
        if (kept != done.updates() && !way.equals("weak")) {
            throw Shared.fail(way + " lost updates: " + kept + " of " + done.updates() + " are left");
        }
        System.out.printf(
                "cache, tasks %d, writes %d%n@@ run elapsed_ns=%d cpu_ns=%d operations=%d updates=%d kept=%d warm_up_ns=%d%n",
                arguments[0], arguments[1], done.elapsedNs(), done.cpuNs(), done.operations(), done.updates(), kept, warmUpNs);
    }

    /** The last task writes, each time as soon as it may; the others read without a pause. */
    private static Team.Work starving(Cache cache, int readers) {
        return task -> {
            boolean writes = task.number == readers;
            // A writer goes on until it has written once, whenever that is.
            for (int key = task.number; !Team.timeIsUp() || writes && task.updates == 0; key = (key + 7) % KEYS) {
                if (!writes) {
                    cache.read(WORDS[key]);
                    task.operations++;
                    continue;
                }
                long began = System.nanoTime();
                cache.write(WORDS[key]);
                task.longestWaitNs = Math.max(task.longestWaitNs, System.nanoTime() - began);
                task.updates++;
                Thread.yield();
            }
        };
    }

    static void starve(String way, int[] arguments) {
        int readers = arguments[0];
        if (way.equals("weak")) {
            throw Shared.fail("there is no program `starve_weak`");
        }
        long warmUpNs = Team.warmUp(readers + 1, STARVING_SLICES, starving(of("starve", way), readers));
        Cache cache = of("starve", way);
        Team.Done done = Team.run(readers + 1, arguments[1], starving(cache, readers));
        Team.Task writer = done.tasks()[readers];
        System.out.printf(
                "one writer, readers %d%n@@ run elapsed_ns=%d cpu_ns=%d whole_ns=%d operations=%d updates=%d longest_wait_ns=%d warm_up_ns=%d%n",
                readers, done.elapsedNs(), done.cpuNs(), done.elapsedNs(), done.operations(), writer.updates, writer.longestWaitNs, warmUpNs);
    }

    static Team.Work warming() {
        return work(new Synchronized(), 10);
    }
}
