package sql;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import kit.Frames;
import kit.Test;
import kit.Threads;

/**
 * Several connections at once, each with a thread of its own: an operation is a query of ten rows by each of them. The threads wait at a
 * barrier before a slice and at another after it; the control is the same without queries.
 */
final class Clients implements Frames {
    private static final int ROWS = 10;

    /** What every client does next. */
    private record Order(long iterations, boolean queries) {}

    private final String text = Reading.limited(ROWS);
    private final List<Client> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CyclicBarrier begin;
    private final CyclicBarrier end;
    private Order order;

    /** A connection, and what its thread did in the last slice. */
    private final class Client {
        final Connection connection = Database.driver().connect();
        long sum;
        Exception wrong;

        Client() throws SQLException {}

        void run() throws InterruptedException, BrokenBarrierException {
            for (begin.await(); order != null; begin.await()) {
                serve();
                end.await();
            }
        }

        private void serve() {
            try {
                sum = work(order.iterations, order.queries);
            } catch (SQLException error) {
                wrong = error;
            }
        }

        private long work(long iterations, boolean queries) throws SQLException {
            long added = 0;
            for (long i = 0; i < iterations; i++) {
                Threads.takesPart("client");
                added += queries ? Database.query(connection, text, ROWS) : i;
            }
            return added;
        }
    }

    private Clients(int many) throws SQLException, IOException {
        Database.own();
        begin = new CyclicBarrier(many + 1);
        end = new CyclicBarrier(many + 1);
        try {
            while (clients.size() < many) {
                clients.add(new Client());
            }
        } catch (SQLException error) {
            close();
            throw error;
        }
        clients.forEach(client -> threads.add(Threads.startPartner(client::run)));
    }

    static List<Test> tests() {
        List<Test> tests = new ArrayList<>();
        for (int many : new int[] {1, 2, 4, 8, 16}) {
            String name = "concurrent." + many;
            tests.add(Test.frame(name, argument -> new Clients(many)).threads(many + 1).work("sql." + name));
        }
        return tests;
    }

    private long go(Order wanted) throws Exception {
        order = wanted;
        begin.await();
        end.await();
        long sum = 0;
        for (Client client : clients) {
            if (client.wrong != null) {
                throw client.wrong;
            }
            sum += client.sum;
        }
        return sum;
    }

    @Override
    public long control(long iterations) throws Exception {
        return go(new Order(iterations, false));
    }

    @Override
    public long test(long iterations) throws Exception {
        return go(new Order(iterations, true));
    }

    @Override
    public void close() throws IOException {
        order = null;
        try {
            if (!threads.isEmpty()) {
                begin.await();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            for (Client client : clients) {
                client.connection.close();
            }
        } catch (InterruptedException | BrokenBarrierException | SQLException error) {
            throw new IOException(error);
        }
    }
}
