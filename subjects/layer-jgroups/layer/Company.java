package layer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import kit.Switches;
import kit.Threads;

/**
 * The leader, member 0, and the processes of the others. Member 1 founds the group and so gives messages their places: were it the leader, its own
 * would come back without having been anywhere.
 */
final class Company {
    private static final int NEVER_MS = 5_000;

    private final List<Partner> partners = new ArrayList<>();
    private int processor = -1;
    private Group group;

    /** Where members run that are started from now on. */
    void place(Threads.Placement placement) throws IOException {
        processor = placement.partner();
        if (placement.main() >= 0) {
            // JGroups' threads of the leader, and its virtual machine's, belong to the leader.
            Threads.pinProcess(ProcessHandle.current().pid(), placement.main());
        }
    }

    /** Context switches so far of all that take part. */
    long switches() {
        long all = Switches.of("self").all();
        for (Partner partner : taking()) {
            all += Switches.of(partner.number()).all();
        }
        return all;
    }

    /** What members say of themselves. */
    List<String> reports() throws IOException {
        List<String> reports = new ArrayList<>();
        for (Partner partner : taking()) {
            reports.add(partner.ask("report"));
        }
        return reports;
    }

    private List<Partner> taking() {
        return group == null ? List.of() : partners.subList(0, group.size - 1);
    }

    /** The group of so many members, in which messages have so many bytes. */
    Group group(int size, int bytes) throws Exception {
        if (group != null && (group.size != size || group.why != null)) {
            leave();
        }
        if (group == null) {
            open(size);
        }
        return withBytes(bytes);
    }

    /** The present group, in which messages have so many bytes from now on. */
    Group withBytes(int bytes) throws IOException {
        group.bytes = bytes;
        for (Partner partner : taking()) {
            partner.ask("bytes " + bytes);
        }
        return group;
    }

    private void open(int size) throws Exception {
        try {
            while (partners.size() < size - 1) {
                partners.add(new Partner(partners.size() + 1, processor));
            }
            String founder = partners.get(0).ask("open 1 " + size + " 0");
            // One after the other: of those that join at once one is left outside now and then.
            for (int rank = 2; rank < size; rank++) {
                partners.get(rank - 1).ask("open " + rank + " " + size + " " + founder);
            }
            group = new Group(size);
            group.ordered = new Ordered(group, size, Integer.parseInt(founder));
            meet();
            Warmth.raise(this);
        } catch (Exception error) {
            end();
            throw error;
        }
    }

    private void meet() throws Exception {
        group.ordered.meet(NEVER_MS);
        for (Partner partner : taking()) {
            partner.ask("meet " + NEVER_MS);
        }
    }

    /** Closes the group, and keeps the processes for the next one if all is well with them. */
    private void leave() throws IOException {
        Group old = group;
        if (old.why != null) {
            end();
            return;
        }
        old.isEnding = true;
        old.ordered.close();
        for (Partner partner : taking()) {
            partner.order("close");
        }
        for (Partner partner : taking()) {
            partner.answer();
        }
        group = null;
    }

    private void end() {
        partners.forEach(Partner::end);
        partners.clear();
        if (group != null && group.ordered != null) {
            group.isEnding = true;
            group.ordered.close();
        }
        group = null;
    }

    /** The leader's side of a group. */
    static final class Group implements Ordered.Side {
        private final int size;
        private final Queue<Account> accounts = new ConcurrentLinkedQueue<>();
        private Ordered ordered;
        private int bytes;
        private volatile CountDownLatch open = new CountDownLatch(0);
        private volatile Thread waiting;
        private volatile long wanted = Long.MAX_VALUE;
        private volatile boolean isEnding;
        private volatile String why;

        private Group(int size) {
            this.size = size;
        }

        /** All send their share of so many messages; the sum of what all have delivered. */
        long together(long messages) throws Exception {
            expectAccounts();
            ordered.turn(messages);
            Share.send(ordered, bytes, 0, size, messages);
            return settle(messages);
        }

        /** The leader sends a message and waits for it; then the next. */
        long alone(long messages) throws Exception {
            waiting = Thread.currentThread();
            for (long number = 0; number < messages; number++) {
                wanted = number + 1;
                ordered.send(bytes, number);
                awaitDelivered(number + 1);
            }
            wanted = Long.MAX_VALUE;
            return messages;
        }

        /** After {@link #alone}: all others have had the messages too. */
        void settleAlone(long messages) throws Exception {
            expectAccounts();
            ordered.closeAccounts();
            settle(messages);
        }

        private void expectAccounts() {
            accounts.clear();
            open = new CountDownLatch(size);
        }

        private void awaitDelivered(long messages) throws IOException {
            long until = System.nanoTime() + NEVER_MS * 1_000_000L;
            while (ordered.delivered() < messages) {
                check();
                if (System.nanoTime() - until > 0) {
                    broken("the leader's message did not come back in " + NEVER_MS + " ms");
                }
                LockSupport.parkNanos(this, NEVER_MS * 1_000_000L);
            }
        }

        private long settle(long messages) throws Exception {
            long seen = -1;
            while (!open.await(NEVER_MS, TimeUnit.MILLISECONDS)) {
                if (ordered.delivered() == seen) {
                    broken("nothing was delivered for " + NEVER_MS + " ms, and " + open.getCount() + " of " + size + " members are not done");
                }
                seen = ordered.delivered();
            }
            check();
            return compare(messages);
        }

        private long compare(long messages) throws IOException {
            Account first = accounts.element();
            long sum = 0;
            for (Account account : accounts) {
                if (!account.equals(first) || account.count() != messages) {
                    broken("of " + messages + " messages members delivered differently: " + accounts);
                }
                sum += account.sum();
            }
            check();
            return sum;
        }

        private void check() throws IOException {
            if (why != null) {
                throw new IOException(why);
            }
        }

        @Override
        public void turn(long messages) {}

        @Override
        public void complete(Account own) {
            told(own);
        }

        @Override
        public void told(Account account) {
            accounts.add(account);
            open.countDown();
        }

        @Override
        public void delivered() {
            if (ordered != null && ordered.delivered() >= wanted) {
                LockSupport.unpark(waiting);
            }
        }

        @Override
        public void broken(String what) {
            if (isEnding || why != null) {
                return;
            }
            why = what;
            while (open.getCount() > 0) {
                open.countDown();
            }
            LockSupport.unpark(waiting);
        }
    }
}
