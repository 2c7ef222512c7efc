package sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;

/** The process's own connection, its tables, and statements that must succeed. */
final class Database {
    private static final int ROWS_MOST = 1000;

    private static Connection own;

    private Database() {}

    /** The value of an environment variable of the laboratory's. */
    static String told(String name) throws SQLException {
        String value = System.getenv("ANTIPHON_SQL_" + name);
        if (value == null || value.isEmpty()) {
            throw new SQLException(
                    "ANTIPHON_SQL_" + name + " is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)");
        }
        return value;
    }

    /** The variant's. */
    static Driver driver() {
        return Driver.valueOf(System.getProperty("sql.driver").toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Of known values, never changed. */
    static String rowsTable() throws SQLException {
        return told("TABLE") + "_rows";
    }

    /** For tests that write. */
    static String writtenTable() throws SQLException {
        return told("TABLE") + "_written";
    }

    /** Open from the first call on, so that SQLite's file never loses its last user, which would make it tidy up. */
    static Connection own() throws SQLException {
        if (own == null) {
            Connection connection = driver().connect();
            driver().settle(connection);
            fill(connection);
            own = connection;
        }
        return own;
    }

    /** The row with key k holds 7919 k mod 10007, in all languages. */
    private static void fill(Connection connection) throws SQLException {
        String table = rowsTable();
        change(connection, "DROP TABLE IF EXISTS " + table, 0);
        change(connection, "CREATE TABLE " + table + " (" + driver().columns + ")", 0);
        change(connection, "BEGIN", 0);
        for (int key = 1; key <= ROWS_MOST; key++) {
            int value = 7919 * key % 10007;
            change(connection, "INSERT INTO " + table + " (id, value) VALUES (" + key + ", " + value + ")", 1);
        }
        change(connection, "COMMIT", 0);
    }

    private static void expect(int found, int wanted) throws SQLException {
        if (found != wanted) {
            throw new SQLException(found + " rows in place of " + wanted);
        }
    }

    /** A statement that changes so many rows, none if it is about tables. */
    static void change(Connection on, String text, int rows) throws SQLException {
        try (Statement statement = on.createStatement()) {
            int found = statement.executeUpdate(text);
            expect(rows == 0 ? 0 : found, rows);
        }
    }

    static void change(PreparedStatement prepared, int value) throws SQLException {
        prepared.setInt(1, value);
        expect(prepared.executeUpdate(), 1);
    }

    /** A query of so many rows, sent as text: every column of every row, added up. */
    static long query(Connection on, String text, int rows) throws SQLException {
        try (Statement statement = on.createStatement()) {
            return added(statement.executeQuery(text), rows);
        }
    }

    static long query(PreparedStatement prepared, int value, int rows) throws SQLException {
        prepared.setInt(1, value);
        return added(prepared.executeQuery(), rows);
    }

    private static long added(ResultSet result, int wanted) throws SQLException {
        try (result) {
            int columns = result.getMetaData().getColumnCount();
            long sum = 0;
            int rows = 0;
            while (result.next()) {
                for (int column = 1; column <= columns; column++) {
                    sum += result.getLong(column);
                }
                rows++;
            }
            expect(rows, wanted);
            return sum;
        }
    }
}
