//go:build sqlite

package main

import (
	"fmt"

	_ "github.com/mattn/go-sqlite3"
)

// SQLite by the system's library with the tag libsqlite3, else by the driver's own.

const (
	columns   = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER"
	parameter = "?"
	noResult  = "PRAGMA query_only = OFF"
)

func connect() (connection, error) {
	file, err := told("FILE")
	if err != nil {
		return nil, err
	}
	// Each connection has one goroutine at a time, so the library need not lock it for every call, as this driver has it do by itself.
	return open("sqlite3", "file:"+file+"?_busy_timeout=10000&_synchronous=FULL&_mutex=no")
}

// settle sets the journal's mode, which belongs to the file. That each commit is written through is asked for in connect: left alone, this
// driver does not do so.
func settle(on connection) error {
	one := on.(standard)
	for pragma, wanted := range map[string]string{"journal_mode = wal": "wal", "synchronous": "2"} {
		var found string
		if err := one.QueryRowContext(background, "PRAGMA "+pragma).Scan(&found); err != nil {
			return err
		}
		if found != wanted {
			return fmt.Errorf("PRAGMA %s gives %s in place of %s", pragma, found, wanted)
		}
	}
	return lengthenLog(on)
}

// lengthenLog makes the log as long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor.
func lengthenLog(on connection) error {
	return all(on, "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros", "DROP TABLE filler")
}
