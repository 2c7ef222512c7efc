package kit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Where threads run, and what they say of it. Java cannot say where a thread runs, so taskset moves them. */
public final class Threads {
    /** The processors of the main thread and of its partners, -1: wherever the system puts them. */
    public record Placement(int main, int partner) {}

    /** What a partner thread runs. */
    @FunctionalInterface
    public interface Body {
        void run() throws Exception;
    }

    private static volatile int partnerProcessor = -1;
    private static volatile boolean reporting;
    private static final Map<String, Integer> REPORTS = new LinkedHashMap<>();

    private Threads() {}

    /** Puts the calling thread and all others of the process where they belong, those of the virtual machine among them. */
    static void place(Placement placement) throws IOException {
        partnerProcessor = placement.partner;
        if (placement.partner >= 0) {
            pinProcess(ProcessHandle.current().pid(), placement.partner);
        }
        if (placement.main >= 0) {
            taskset("-cp", placement.main, Proc.thisThread());
        }
    }

    /** Lets every thread that a process has now run on one processor alone; threads that they start later inherit it. */
    public static void pinProcess(long process, int processor) throws IOException {
        taskset("-acp", processor, Long.toString(process));
    }

    private static void taskset(String options, int processor, String whom) throws IOException {
        Process taskset = new ProcessBuilder("taskset", options, Integer.toString(processor), whom).redirectErrorStream(true).start();
        try {
            String said = new String(taskset.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (taskset.waitFor() != 0) {
                throw new IOException(said.strip());
            }
        } catch (InterruptedException error) {
            throw new IOException("interrupted while a thread was moved", error);
        }
    }

    /** Starts a platform thread where the placement wants it. */
    public static Thread startPartner(Body body) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                if (partnerProcessor >= 0) {
                                    taskset("-cp", partnerProcessor, Proc.thisThread());
                                }
                                body.run();
                            } catch (Exception error) {
                                throw new IllegalStateException("a partner thread failed", error);
                            }
                        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** What each thread that a test starts calls, at each operation: it reports in untimed iterations. */
    public static void takesPart(String role) {
        if (reporting) {
            report(Report.ofThisThread(role).toString());
        }
    }

    static synchronized void report(String text) {
        REPORTS.merge(text, 1, Integer::sum);
    }

    static void reportMain() {
        report(Report.ofThisThread("main").toString());
    }

    static void startReporting() {
        reporting = true;
        reportMain();
    }

    static void stopReporting() {
        reporting = false;
    }

    static synchronized void forgetReports() {
        REPORTS.clear();
    }

    static synchronized void answerReports(Answer answer) {
        REPORTS.forEach((text, count) -> answer.line("thread %s count=%d", text, count));
    }
}
