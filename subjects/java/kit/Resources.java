package kit;

import java.util.function.LongSupplier;

/**
 * What the process has used so far; waitNs is -1 where the system does not tell. Context switches are those of the threads that live now ({@link
 * Switches}), so a difference is never told below 0.
 */
record Resources(long voluntary, long involuntary, long minor, long major, long waitNs) {
    static Resources now(LongSupplier ownSwitches) {
        Switches switches = ownSwitches == null ? Switches.of("self") : new Switches(ownSwitches.getAsLong(), 0);
        String[] stat = Proc.stat("self");
        return new Resources(
                switches.voluntary(),
                switches.involuntary(),
                Proc.number(stat, Proc.MINOR_FAULTS),
                Proc.number(stat, Proc.MAJOR_FAULTS),
                waited());
    }

    /** The second of three numbers: time on the processor, time ready but not running, slices. */
    private static long waited() {
        String[] words = Proc.read("/proc/thread-self/schedstat").split(" ");
        return words.length < 2 || words[0].equals("0") ? -1 : Long.parseLong(words[1]);
    }

    /** The words of a slice: voluntary, involuntary, minor, major, wait. */
    static String between(Resources before, Resources after) {
        return String.join(
                " ",
                more(before.voluntary, after.voluntary),
                more(before.involuntary, after.involuntary),
                more(before.minor, after.minor),
                more(before.major, after.major),
                wait(before, after));
    }

    static String wait(Resources before, Resources after) {
        return before.waitNs < 0 || after.waitNs < 0 ? "-" : more(before.waitNs, after.waitNs);
    }

    private static String more(long before, long after) {
        return Long.toString(Math.max(after - before, 0));
    }

    static void answerUsage(Answer answer) {
        Resources now = now(null);
        String[] stat = Proc.stat("self");
        String status = Proc.status("self");
        answer.line(
                "usage user=%d system=%d peak_rss=%d minor=%d major=%d voluntary=%d involuntary=%d threads=%d",
                Proc.number(stat, Proc.USER_TICKS) * Proc.TICK_NS,
                Proc.number(stat, Proc.SYSTEM_TICKS) * Proc.TICK_NS,
                Proc.count(status, "VmHWM") * 1024,
                now.minor,
                now.major,
                now.voluntary,
                now.involuntary,
                Proc.count(status, "Threads"));
    }
}
