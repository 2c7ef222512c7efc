package models;

import java.util.Arrays;
import java.util.Map;

/**
 * Runs one of the programs that compare execution models: {@code models.Models platform|virtual PROGRAM ARGUMENTS}.
 *
 * <p>Virtual threads run on one carrier thread, so that they give way only where they block or yield, as Green Threads did. Programs in
 * cooperative style (_cm) need them.
 */
public final class Models {
    /** A program; it gives its answer. */
    @FunctionalInterface
    interface Program {
        String run(int[] arguments, Account account);
    }

    /** What a run tells of itself beside its answer. */
    static final class Account {
        int operations;
        int turns;
    }

    /** A program with the least values of its arguments. */
    private record Entry(Program program, int... least) {}

    private static final Map<String, Entry> PROGRAMS = Map.ofEntries(
            Map.entry("loop", new Entry(Micro::loop, 1, 0)),
            Map.entry("sync_cp", new Entry(Micro::handOver, 1)),
            Map.entry("sync_cm", new Entry(Micro::giveWay, 1)),
            Map.entry("sharing", new Entry(Sharing::normal, 1, 0)),
            Map.entry("sharing_high", new Entry(Sharing::high, 1, 0)),
            Map.entry("sharing_gc", new Entry(Sharing::collecting, 1, 0)),
            Map.entry("sharing_high_gc", new Entry(Sharing::highCollecting, 1, 0)),
            Map.entry("dp_cp", new Entry(Dining::concurrent, 2, 0, 0)),
            Map.entry("dp_cm", new Entry(Dining::cooperative, 2, 0, 0)),
            Map.entry("pc_cp", new Entry(Producer::concurrent, 0, 0)),
            Map.entry("pc_cm", new Entry(Producer::cooperative, 0, 0)),
            Map.entry("rw_cp", new Entry(Database::concurrent, 0, 0, 0, 0)),
            Map.entry("rw_cm", new Entry(Database::cooperative, 0, 0, 0, 0)),
            Map.entry("ji_cp", new Entry(Jacobi::concurrent, 1, 1, 0)),
            Map.entry("ji_cm", new Entry(Jacobi::cooperative, 1, 1, 0)));

    private Models() {}

    public static void main(String[] words) {
        if (words.length < 2) {
            throw fail("say `platform` or `virtual`, and give the name of a program and its arguments");
        }
        Team.use(words[0]);
        String name = words[1];
        Entry entry = PROGRAMS.get(name);
        if (entry == null) {
            throw fail("there is no program `" + name + "`");
        }
        if (name.endsWith("_cm") && !Team.isCooperative()) {
            throw fail("a cooperative program needs virtual threads");
        }
        int[] arguments = parse(entry.least(), Arrays.copyOfRange(words, 2, words.length));
        Account account = new Account();
        long began = System.nanoTime();
        String answer = entry.program().run(arguments, account);
        long elapsed = System.nanoTime() - began;
        StringBuilder told = new StringBuilder("@@ run elapsed_ns=").append(elapsed);
        if (account.operations > 0) {
            told.append(" operations=").append(account.operations);
        }
        if (account.turns > 0) {
            told.append(" turns=").append(account.turns);
        }
        System.out.println(told);
        System.out.println(answer);
    }

    private static int[] parse(int[] least, String[] words) {
        if (words.length != least.length) {
            throw fail(least.length + " arguments are needed, and there are " + words.length);
        }
        int[] values = new int[least.length];
        for (int i = 0; i < least.length; i++) {
            try {
                values[i] = Integer.parseInt(words[i]);
            } catch (NumberFormatException notANumber) {
                throw fail("`" + words[i] + "` is no whole number");
            }
            if (values[i] < least[i]) {
                throw fail("`" + words[i] + "` is less than " + least[i]);
            }
        }
        return values;
    }

    /** Ends the program with a message. */
    static Error fail(String why) {
        System.err.println("models: " + why);
        System.exit(2);
        return new AssertionError(why);
    }
}
