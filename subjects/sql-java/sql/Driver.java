package sql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** What differs by driver and database: how one connects, and a few words of SQL. A variant has one, by its name. */
enum Driver {
    /** By sqlite-jdbc, which holds a SQLite of its own. */
    SQLITE("INTEGER PRIMARY KEY AUTOINCREMENT", "WHERE id <=", "PRAGMA query_only = OFF") {
        /**
         * SQLITE_OPEN_READWRITE, _CREATE and _NOMUTEX: each connection has one thread, so the library need not lock it for every call, as it does
         * unless it is told. The driver's own lock of a connection stays, by {@code synchronized}.
         */
        private static final int OPEN_MODE = 0x2 | 0x4 | 0x8000;

        @Override
        Connection connect() throws SQLException {
            String options = "?busy_timeout=10000&open_mode=" + OPEN_MODE;
            return DriverManager.getConnection("jdbc:sqlite:" + Database.told("FILE") + options);
        }

        /** The journal's mode belongs to the file. */
        @Override
        void settle(Connection connection) throws SQLException {
            expect(connection, "journal_mode = wal", "wal");
            expect(connection, "synchronous", "2");
            lengthenLog(connection);
        }

        /** As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor. */
        private static void lengthenLog(Connection connection) throws SQLException {
            Database.change(connection, "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros", 0);
            Database.change(connection, "DROP TABLE filler", 0);
        }
    },

    /** Statements as text by the simple protocol, prepared ones by the extended one from their first use on. */
    POSTGRESQL("SERIAL PRIMARY KEY", "LIMIT", "SET statement_timeout TO 0") {
        @Override
        Connection connect() throws SQLException {
            return server("postgresql", "sslmode=disable&gssEncMode=disable&preferQueryMode=extendedForPrepared&prepareThreshold=1");
        }
    },

    /** Statements as text, prepared ones by the binary protocol, which this driver has to be told. */
    MARIADB("INTEGER PRIMARY KEY AUTO_INCREMENT", "LIMIT", "DO 1") {
        @Override
        Connection connect() throws SQLException {
            return server("mariadb", "sslMode=disable&useServerPrepStmts=true");
        }
    },

    /**
     * By MySQL's own driver, which is told the same. Left alone, each connection asks how the server is set, and sets {@code autocommit}, which is set:
     * one that caches the former, and trusts what it knows of its session, is spared both.
     */
    MARIADB_MYSQL(MARIADB) {
        @Override
        Connection connect() throws SQLException {
            return server("mysql", "sslMode=DISABLED&useServerPrepStmts=true&useLocalSessionState=true&cacheServerConfiguration=true");
        }
    };

    /** Columns of {@code CREATE TABLE}: a key that counts by itself, and a value. */
    final String columns;

    /**
     * How a prepared statement asks for so many rows, the parameter behind it: newer libraries of SQLite prepare one anew whenever the parameter of its LIMIT
     * is bound.
     */
    final String first;

    /** The cheapest statement that has no result. */
    final String noResult;

    Driver(String key, String first, String noResult) {
        this.columns = "id " + key + ", value INTEGER";
        this.first = first;
        this.noResult = noResult;
    }

    /** Another one of the same database. */
    Driver(Driver other) {
        this.columns = other.columns;
        this.first = other.first;
        this.noResult = other.noResult;
    }

    abstract Connection connect() throws SQLException;

    /** A server has confirmed its settings. */
    void settle(Connection connection) throws SQLException {}

    private static Connection server(String kind, String options) throws SQLException {
        String where = Database.told("HOST") + ":" + Database.told("PORT") + "/" + Database.told("NAME");
        return DriverManager.getConnection("jdbc:" + kind + "://" + where + "?" + options, Database.told("USER"), Database.told("PASSWORD"));
    }

    private static void expect(Connection connection, String pragma, String wanted) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery("PRAGMA " + pragma)) {
            String found = answer.next() ? answer.getString(1) : "nothing";
            if (!found.equals(wanted)) {
                throw new SQLException("PRAGMA " + pragma + " gives " + found + " in place of " + wanted);
            }
        }
    }
}
