package shared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counter: every task adds one as often as it can. It lies on the heap in all languages but Python: what is reached by a register processors may
 * keep at hand, and add to it several times as fast as to what has a fixed place in the program (docs/explanation/shared-data.md).
 */
final class Counters {
    /**
     * An ordinary variable would be kept in a register for 64 increments, which no other task sees. Opaque access reads and writes memory each time, and makes
     * nothing indivisible.
     */
    private static final VarHandle UNPROTECTED;

    static {
        try {
            UNPROTECTED = MethodHandles.lookup().findVarHandle(Counters.class, "unprotected", long.class);
        } catch (ReflectiveOperationException error) {
            throw new ExceptionInInitializerError(error);
        }
    }

    @SuppressWarnings("unused") // by its handle
    private long unprotected;

    private final AtomicLong indivisible = new AtomicLong();
    private final LongAdder adder = new LongAdder(); // a cell for each processor, once tasks are in each other's way
    private long locked;

    void without(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                UNPROTECTED.setOpaque(this, (long) UNPROTECTED.getOpaque(this) + 1);
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    void atomically(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                indivisible.incrementAndGet();
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    void byAdder(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                adder.increment();
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    void byLock(Team.Task task) {
        while (Team.goesOn(task)) {
            for (int i = 0; i < Team.OPERATIONS_A_LOOK; i++) {
                synchronized (this) {
                    locked++;
                }
            }
            task.operations += Team.OPERATIONS_A_LOOK;
        }
    }

    private Team.Work work(String way) {
        return switch (way) {
            case "unsafe" -> this::without;
            case "atomic" -> this::atomically;
            case "adder" -> this::byAdder;
            case "locked" -> this::byLock;
            default -> throw Shared.fail("there is no program `counter_" + way + "`");
        };
    }

    private long value(String way) {
        return switch (way) {
            case "unsafe" -> (long) UNPROTECTED.getVolatile(this);
            case "atomic" -> indivisible.get();
            case "adder" -> adder.sum();
            default -> locked;
        };
    }

    static void run(String way, int[] arguments) {
        long warmUpNs = Team.warmUp(arguments[0], new Counters().work(way));
        Counters counters = new Counters();
        Team.Done done = Team.run(arguments[0], arguments[1], counters.work(way));
        long kept = counters.value(way);
        if (kept != done.operations() && !way.equals("unsafe")) {
            throw Shared.fail(way + " lost increments: " + kept + " of " + done.operations() + " are left");
        }
        System.out.printf(
                "counter, tasks %d%n@@ run elapsed_ns=%d cpu_ns=%d operations=%d kept=%d warm_up_ns=%d%n",
                arguments[0], done.elapsedNs(), done.cpuNs(), done.operations(), kept, warmUpNs);
    }
}
