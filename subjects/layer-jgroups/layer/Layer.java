package layer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.LogManager;
import kit.Frames;
import kit.Subject;
import kit.Test;

/** Messages that all members of a group deliver in one order, by JGroups' SEQUENCER: the rows of the suite `layer`. */
public final class Layer {
    private static final int MOST_MEMBERS = 8;

    private Layer() {}

    public static void main(String[] arguments) throws IOException {
        // JGroups tells of each protocol that it starts.
        LogManager.getLogManager().reset();
        Company company = new Company();
        List<Test> tests = new ArrayList<>();
        for (int members = 2; members <= MOST_MEMBERS; members++) {
            int size = members;
            tests.add(Test.frame("group.own." + size, bytes -> new Own(group(company, size, bytes), company)).arg("bytes").threads(size));
            tests.add(Test.frame("group.all." + size, bytes -> new All(group(company, size, bytes), company)).arg("bytes").threads(size));
        }
        new Subject("Java", tests).ownSwitches(company::switches).onPlacement(company::place).serve();
    }

    private static Company.Group group(Company company, int size, long bytes) throws Exception {
        if (bytes > Numbered.MOST_BYTES) {
            throw new IllegalArgumentException("a message has at most " + Numbered.MOST_BYTES + " bytes, not " + bytes);
        }
        return company.group(size, (int) bytes);
    }

    /** One sends, and waits for its own message. */
    private static final class Own implements Frames {
        private final Company.Group group;
        private final Company company;
        private long sent;

        Own(Company.Group group, Company company) {
            this.group = group;
            this.company = company;
        }

        @Override
        public long control(long iterations) {
            long sum = 0;
            for (long i = 0; i < iterations; i++) {
                sum += i;
            }
            return sum;
        }

        @Override
        public long test(long iterations) throws Exception {
            sent = iterations;
            return group.alone(iterations);
        }

        @Override
        public void reset() throws Exception {
            if (sent > 0) {
                long messages = sent;
                sent = 0;
                group.settleAlone(messages);
            }
        }

        @Override
        public List<String> reports() throws IOException {
            return company.reports();
        }
    }

    /** All send; they begin at the leader's word and tell it when they have delivered all, in the control as well. */
    private static final class All implements Frames {
        private final Company.Group group;
        private final Company company;

        All(Company.Group group, Company company) {
            this.group = group;
            this.company = company;
        }

        @Override
        public long control(long iterations) throws Exception {
            long sum = 0;
            for (long i = 0; i < iterations; i++) {
                sum += i;
            }
            return sum + group.together(0);
        }

        @Override
        public long test(long iterations) throws Exception {
            return group.together(iterations);
        }

        @Override
        public List<String> reports() throws IOException {
            return company.reports();
        }
    }
}
