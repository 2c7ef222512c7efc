package layer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.LogManager;
import kit.Report;

/**
 * A member in a process of its own, as the leader starts it: does what it is told, a line of standard input each, until there are no more.
 *
 * <p>Orders are {@code open RANK SIZE PORT} (0: it founds the group), {@code meet MS}, {@code bytes LENGTH}, {@code report} and {@code close}; each
 * is answered by a line. Nothing is told this way while a slice runs.
 */
final class Member implements Ordered.Side {
    /** What is done beside JGroups' own threads, which may not wait for the group. */
    private interface Task {
        void run() throws Exception;
    }

    private final BlockingQueue<Task> tasks = new LinkedBlockingQueue<>();
    private volatile Ordered ordered;
    private volatile int rank;
    private volatile int size;
    private volatile int bytes;

    @Override
    public void turn(long messages) {
        if (messages > 0) {
            tasks.add(() -> Share.send(ordered, bytes, rank, size, messages));
        }
    }

    @Override
    public void complete(Account own) {
        tasks.add(() -> ordered.tell(ordered.member(size - 1), own));
    }

    @Override
    public void told(Account account) {
        fail("an account came that was the leader's to have");
    }

    @Override
    public void delivered() {}

    /** The leader hears of it too, and decides. */
    @Override
    public void broken(String why) {}

    private static void fail(String why) {
        System.err.println("member: " + why);
        Runtime.getRuntime().halt(1);
    }

    private void work() {
        try {
            while (true) {
                tasks.take().run();
            }
        } catch (Exception error) {
            // The others wait for what this one does not do: only its end tells them.
            fail(error.toString());
        }
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "open":
                rank = Integer.parseInt(words[1]);
                size = Integer.parseInt(words[2]);
                ordered = new Ordered(this, size, Integer.parseInt(words[3]));
                return Integer.toString(ordered.port());
            case "meet":
                ordered.meet(Long.parseLong(words[1]));
                return "met";
            case "bytes":
                bytes = Integer.parseInt(words[1]);
                return "known";
            case "report":
                return Report.ofThisThread("member").toString();
            case "close":
                ordered.close();
                return "closed";
            default:
                throw new IllegalArgumentException("no order " + words[0]);
        }
    }

    private void serve() throws IOException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            try {
                System.out.println(obey(line.split(" ")));
            } catch (Exception error) {
                fail(line + ": " + error);
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        // JGroups tells of each protocol that it starts.
        LogManager.getLogManager().reset();
        Member member = new Member();
        Thread worker = new Thread(member::work);
        worker.setDaemon(true);
        worker.start();
        member.serve();
        Runtime.getRuntime().halt(0);
    }
}
