//go:build sqlite

package main

import "fmt"

// What all drivers of SQLite are given: mattn's in mattn.go, or modernc's in modernc.go, under its tag.

const (
	columns   = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER"
	parameter = "?"
	first     = "WHERE id <="
	noResult  = "PRAGMA query_only = OFF"
)

func connect() (connection, error) {
	file, err := told("FILE")
	if err != nil {
		return nil, err
	}
	return open(driver, "file:"+file+"?_busy_timeout=10000"+options)
}

// settle sets the journal's mode, which belongs to the file. That each commit is written through is the library's default, or asked for in connect.
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
