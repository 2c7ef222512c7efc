package main

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// A connection is to one of the databases; each has a file, which is built in under its tag. All methods fail with an error if other rows
// come than were wanted.
type connection interface {
	// Exec runs a statement that changes rows, none if it is about tables.
	Exec(text string, rows int64) error
	// Query reads every column of every row as a number and adds them up.
	Query(text string, rows int) (uint64, error)
	// Prepare keeps a statement with one parameter, written as in the constant parameter. One that queries asks for so many rows from the first on by the
	// constant first: newer libraries of SQLite prepare a statement anew whenever the parameter of its LIMIT is bound.
	Prepare(text string) (statement, error)
	Close() error
}

// A statement that was prepared.
type statement interface {
	Exec(value int64, rows int64) error
	Query(value int64, rows int) (uint64, error)
	Close() error
}

var background = context.Background()

const rowsMost = 1000

// told is what the laboratory says of the database.
func told(name string) (string, error) {
	value := os.Getenv("ANTIPHON_SQL_" + name)
	if value == "" {
		return "", fmt.Errorf("ANTIPHON_SQL_%s is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)", name)
	}
	return value, nil
}

// total reads every column of every row as a number and adds them up.
func total(rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}, columns, wanted int) (uint64, error) {
	var values [2]int64
	into := []any{&values[0], &values[1]}[:columns]
	var sum uint64
	count := 0
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return 0, err
		}
		for i := range into {
			sum += uint64(values[i])
		}
		count++
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if count != wanted {
		return 0, otherRows(count, wanted)
	}
	return sum, nil
}

func otherRows(found, wanted any) error {
	return fmt.Errorf("%v rows in place of %v", found, wanted)
}

// The process's own connection is open from the first preparation on, so that SQLite's file never loses its last user, which would make it
// tidy up.
var own = sync.OnceValues(func() (connection, error) {
	connection, err := connect()
	if err != nil {
		return nil, err
	}
	return connection, fill(connection)
})

// The table of rows has rowsMost of known values and is never changed; the other is for tests that write.
func rowsTable() string    { return os.Getenv("ANTIPHON_SQL_TABLE") + "_rows" }
func writtenTable() string { return os.Getenv("ANTIPHON_SQL_TABLE") + "_written" }

// fill makes the table of rows. The one with key k holds 7919 k mod 10007, in all languages.
func fill(to connection) error {
	if _, err := told("TABLE"); err != nil {
		return err
	}
	if err := settle(to); err != nil {
		return err
	}
	table := rowsTable()
	if err := all(to, "DROP TABLE IF EXISTS "+table, "CREATE TABLE "+table+" ("+columns+")", "BEGIN"); err != nil {
		return err
	}
	for key := 1; key <= rowsMost; key++ {
		text := fmt.Sprintf("INSERT INTO %s (id, value) VALUES (%d, %d)", table, key, 7919*key%10007)
		if err := to.Exec(text, 1); err != nil {
			return err
		}
	}
	return to.Exec("COMMIT", 0)
}

// all runs statements that change no rows.
func all(on connection, texts ...string) error {
	for _, text := range texts {
		if err := on.Exec(text, 0); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
