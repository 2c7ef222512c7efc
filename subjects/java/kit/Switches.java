package kit;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Context switches so far of the threads of a process that live now. Java cannot ask getrusage, and what a thread did that has ended is lost.
 */
public record Switches(long voluntary, long involuntary) {
    /** Those of the process of this number, or of "self"; none where the system does not tell or the process is gone. */
    public static Switches of(String process) {
        long voluntary = 0;
        long involuntary = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc", process, "task"))) {
            for (Path thread : threads) {
                String status = Proc.read(thread + "/status");
                voluntary += Proc.count(status, "voluntary_ctxt_switches");
                involuntary += Proc.count(status, "nonvoluntary_ctxt_switches");
            }
        } catch (IOException | DirectoryIteratorException error) {
            // the system has no such folder: no switches are told
        }
        return new Switches(voluntary, involuntary);
    }

    /** Both together. */
    public long all() {
        return voluntary + involuntary;
    }
}
