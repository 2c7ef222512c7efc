//go:build sqlite

package main

import (
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"
)

// SQLite by the system's library, over database/sql: one connection of its pool.

const (
	columns   = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER"
	parameter = "?"
)

type standard struct {
	pool *sql.DB
	*sql.Conn
}

func connect() (connection, error) {
	file, err := told("FILE")
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite3", "file:"+file+"?_busy_timeout=10000&_synchronous=FULL")
	if err != nil {
		return nil, err
	}
	one, err := pool.Conn(background)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return standard{pool, one}, nil
}

func (s standard) Close() error {
	s.Conn.Close()
	return s.pool.Close()
}

func (s standard) Exec(text string, rows int64) error {
	return changed(s.ExecContext(background, text))(rows)
}

func (s standard) Query(text string, rows int) (uint64, error) {
	return added(s.QueryContext(background, text))(rows)
}

func (s standard) Prepare(text string) (statement, error) {
	prepared, err := s.PrepareContext(background, text)
	return kept{prepared}, err
}

type kept struct{ *sql.Stmt }

func (k kept) Exec(value int64, rows int64) error {
	return changed(k.ExecContext(background, value))(rows)
}

func (k kept) Query(value int64, rows int) (uint64, error) {
	return added(k.QueryContext(background, value))(rows)
}

func changed(result sql.Result, err error) func(int64) error {
	return func(wanted int64) error {
		if err != nil || wanted == 0 {
			return err
		}
		if found, err := result.RowsAffected(); err != nil || found != wanted {
			return otherRows(found, wanted)
		}
		return nil
	}
}

func added(rows *sql.Rows, err error) func(int) (uint64, error) {
	return func(wanted int) (uint64, error) {
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return 0, err
		}
		var values [2]int64
		into := []any{&values[0], &values[1]}[:len(columns)]
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
	return nil
}
