package sql;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import kit.Test;

/** Statements that write to a table of their own. What was written is counted after each slice, untimed. */
final class Writing extends Repeated {
    /** Inserts that are one operation of the transactions' tests. */
    private static final int TOGETHER = 10;

    /** An operation; gives what it adds to the checksum. */
    @FunctionalInterface
    private interface Operation {
        long once(Writing writing) throws SQLException;
    }

    private final Operation operation;
    private final Connection on = Database.own();
    private final String drop;
    private final String create;
    private final String insert;
    private final String count;
    private final PreparedStatement prepared;

    /** Rows that the table must have. */
    private long written;

    private Writing(Operation operation) throws SQLException {
        this.operation = operation;
        String table = Database.writtenTable();
        drop = "DROP TABLE " + table;
        create = "CREATE TABLE " + table + " (" + Database.driver().columns + ")";
        insert = "INSERT INTO " + table + " (value) VALUES (1)";
        count = "SELECT count(*), coalesce(sum(value), 0) FROM " + table;
        Database.change(on, "DROP TABLE IF EXISTS " + table, 0);
        Database.change(on, create, 0);
        prepared = on.prepareStatement("INSERT INTO " + table + " (value) VALUES (?)");
    }

    static List<Test> tests() {
        return List.of(
                test("insert", "sql.insert", Writing::insert),
                test("insert.prepared", "sql.insert", Writing::insertPrepared),
                test("transaction.one", "sql.transaction", Writing::oneTransaction),
                test("transaction.each", "sql.transaction", Writing::oneEach),
                test("drop_create", "sql.drop_create", Writing::dropCreate));
    }

    private static Test test(String name, String work, Operation operation) {
        return Test.frame(name, argument -> new Writing(operation)).work(work);
    }

    @Override
    long once() throws SQLException {
        return operation.once(this);
    }

    private long insert() throws SQLException {
        Database.change(on, insert, 1);
        written++;
        return 1;
    }

    private long insertPrepared() throws SQLException {
        Database.change(prepared, 1);
        written++;
        return 1;
    }

    private long oneEach() throws SQLException {
        for (int i = 0; i < TOGETHER; i++) {
            insert();
        }
        return TOGETHER;
    }

    private long oneTransaction() throws SQLException {
        Database.change(on, "BEGIN", 0);
        long done = oneEach();
        Database.change(on, "COMMIT", 0);
        return done;
    }

    private long dropCreate() throws SQLException {
        Database.change(on, drop, 0);
        Database.change(on, create, 0);
        return 1;
    }

    /** Each row holds a 1, so count and sum are the rows that were written. */
    @Override
    public void reset() throws SQLException {
        long found = Database.query(on, count, 1);
        if (found != 2 * written) {
            throw new SQLException("the table's rows and values add up to " + found + ", and should to " + 2 * written);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            prepared.close();
            rollBack();
            Database.change(on, drop, 0);
        } catch (SQLException error) {
            throw new IOException(error);
        }
    }

    /** Of a transaction that failed half-way; where there is none, some databases say so. */
    private void rollBack() {
        try {
            Database.change(on, "ROLLBACK", 0);
        } catch (SQLException none) {
            // as it should be
        }
    }
}
