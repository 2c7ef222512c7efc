package kit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the system tells of threads and of the process, in /proc: Java has no words for most of it. */
final class Proc {
    private Proc() {}

    /** Fields of a stat file, counted from the one after the command's name. */
    static final int MINOR_FAULTS = 7;
    static final int MAJOR_FAULTS = 9;
    static final int USER_TICKS = 11;
    static final int SYSTEM_TICKS = 12;
    static final int PROCESSOR = 36;
    static final int PRIORITY = 37;
    static final int POLICY = 38;

    /** A tick of user and system time in /proc, ns, on every Linux. */
    static final long TICK_NS = 10_000_000;

    static String[] stat(String of) {
        String stat = read("/proc/" + of + "/stat");
        return stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
    }

    static long number(String[] stat, int field) {
        return field < stat.length ? Long.parseLong(stat[field]) : 0;
    }

    /** The first word after a key of a status file, empty if it is not there. */
    static String word(String status, String key) {
        for (String line : status.split("\n")) {
            if (line.startsWith(key + ":")) {
                return line.substring(key.length() + 1).strip().split("\\s+")[0];
            }
        }
        return "";
    }

    /** As {@link #word}, a number; 0 if it is not there. */
    static long count(String status, String key) {
        String word = word(status, key);
        return word.isEmpty() ? 0 : Long.parseLong(word);
    }

    static String status(String of) {
        return read("/proc/" + of + "/status");
    }

    /** The file's text; empty if it cannot be read, as that of a thread that has ended. */
    static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException error) {
            return "";
        }
    }

    /** The calling thread's number in the system. It must be a platform thread. */
    static String thisThread() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    }
}
