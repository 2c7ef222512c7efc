package shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/** The counter: every task adds one as often as it can. */
final class Counters {
    /**
     * An ordinary variable would be kept in a register for 64 increments, which no other task sees. Opaque access reads and writes memory each time, and makes
     * nothing indivisible.
     */
    private static final VarHandle UNPROTECTED;

    private static final AtomicLong INDIVISIBLE = new AtomicLong();
    private static final Object LOCK = new Object();

    @SuppressWarnings("unused") // by its handle
    private static long unprotected;

    private static long locked;

    static {
        try {
            UNPROTECTED = MethodHandles.lookup().findStaticVarHandle(Counters.class, "unprotected", long.class);
        } catch (ReflectiveOperationException error) {
            throw new ExceptionInInitializerError(error);
        }
    }

    private Counters() {}

    static void without(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                UNPROTECTED.setOpaque((long) UNPROTECTED.getOpaque() + 1);
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    static void atomically(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                INDIVISIBLE.incrementAndGet();
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    static void byLock(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                synchronized (LOCK) {
                    locked++;
                }
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    /** What was counted since the last time. */
    private static long taken(String way) {
        return switch (way) {
            case "unsafe" -> (long) UNPROTECTED.getAndSet(0L);
            case "atomic" -> INDIVISIBLE.getAndSet(0);
            default -> {
                long value = locked;
                locked = 0;
                yield value;
            }
        };
    }

    static void run(String way, int[] arguments) {
        Team.Work work =
                switch (way) {
                    case "unsafe" -> Counters::without;
                    case "atomic" -> Counters::atomically;
                    case "locked" -> Counters::byLock;
                    default -> throw Shared.fail("there is no program `counter_" + way + "`");
                };
        long warmUpNs = Team.warmUp(arguments[0], work);
        taken(way);
        Team.Done done = Team.run(arguments[0], arguments[1], work);
        long kept = taken(way);
        if (kept != done.operations() && !way.equals("unsafe")) {
            throw Shared.fail(way + " lost increments: " + kept + " of " + done.operations() + " are left");
        }
        System.out.printf(
                "counter, tasks %d%n@@ run elapsed_ns=%d cpu_ns=%d operations=%d kept=%d warm_up_ns=%d%n",
                arguments[0], done.elapsedNs(), done.cpuNs(), done.operations(), kept, warmUpNs);
    }
}
