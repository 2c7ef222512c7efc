package sql;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import kit.Test;

/** Connections and queries. */
final class Reading {
    private Reading() {}

    static List<Test> tests() {
        List<Test> tests = new ArrayList<>();
        tests.add(Test.frame("connect", argument -> new Connecting()).work("sql.connect"));
        tests.add(Test.frame("do.1", argument -> new Doing()).work("sql.do.1"));
        tests.add(Test.frame("select.1", argument -> new Query("SELECT 1", 1)).work("sql.select.1"));
        for (int rows : new int[] {1, 10, 50, 100, 200, 500, 1000}) {
            String name = "rows." + rows;
            tests.add(Test.frame(name, argument -> new Query(limited(rows), rows)).work("sql." + name));
        }
        for (int rows : new int[] {1, 10, 100, 1000}) {
            tests.add(Test.frame("prepared." + rows, argument -> new Prepared(rows)).work("sql.rows." + rows));
        }
        return tests;
    }

    static String limited(int rows) throws SQLException {
        return "SELECT * FROM " + Database.rowsTable() + " LIMIT " + rows;
    }

    /** Connect, SELECT 1, close. */
    private static final class Connecting extends Repeated {
        private final Driver driver = Database.driver();

        Connecting() throws SQLException {
            Database.own();
        }

        @Override
        long once() throws SQLException {
            try (Connection connection = driver.connect()) {
                return Database.query(connection, "SELECT 1", 1);
            }
        }
    }

    /** A statement without a result. */
    private static final class Doing extends Repeated {
        private final Connection on = Database.own();
        private final String text = Database.driver().noResult;

        Doing() throws SQLException {}

        @Override
        long once() throws SQLException {
            Database.change(on, text, 0);
            return 1;
        }
    }

    /** A query that is sent as text each time. */
    private static final class Query extends Repeated {
        private final Connection on = Database.own();
        private final String text;
        private final int rows;

        Query(String text, int rows) throws SQLException {
            this.text = text;
            this.rows = rows;
        }

        @Override
        long once() throws SQLException {
            return Database.query(on, text, rows);
        }
    }

    /** A query that is prepared once, with its rows as the parameter. */
    private static final class Prepared extends Repeated {
        private final PreparedStatement statement =
                Database.own().prepareStatement("SELECT * FROM " + Database.rowsTable() + " " + Database.driver().first + " ?");
        private final int rows;

        Prepared(int rows) throws SQLException {
            this.rows = rows;
        }

        @Override
        long once() throws SQLException {
            return Database.query(statement, rows, rows);
        }

        @Override
        public void close() throws IOException {
            try {
                statement.close();
            } catch (SQLException error) {
                throw new IOException(error);
            }
        }
    }
}
