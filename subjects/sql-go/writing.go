package main

import (
	"errors"
	"fmt"

	"antiphon/subjects/go/kit"
)

// Inserts that are one operation of the transactions' tests.
const together = 10

// written is a table of its own, with what it must hold, and what is done to it in a turn.
type written struct {
	nothing
	on       connection
	prepared statement
	once     func(*written) error
	insert   string
	rows     uint64
}

func writing() []kit.Test {
	return []kit.Test{
		writes("insert", "sql.insert", (*written).one),
		writes("insert.prepared", "sql.insert", (*written).onePrepared),
		writes("transaction.one", "sql.transaction", (*written).oneTransaction),
		writes("transaction.each", "sql.transaction", (*written).oneEach),
		{Name: "drop_create", Work: "sql.drop_create", Prepare: func(uint64) (kit.Frames, error) {
			w, err := newWritten(nil)
			return dropCreate{w}, err
		}},
	}
}

func writes(name, work string, once func(*written) error) kit.Test {
	return kit.Test{Name: name, Work: work, Prepare: func(uint64) (kit.Frames, error) { return newWritten(once) }}
}

func drop() string   { return "DROP TABLE " + writtenTable() }
func create() string { return "CREATE TABLE " + writtenTable() + " (" + columns + ")" }

func newWritten(once func(*written) error) (*written, error) {
	on, err := own()
	if err != nil {
		return nil, err
	}
	if err := all(on, "DROP TABLE IF EXISTS "+writtenTable(), create()); err != nil {
		return nil, err
	}
	prepared, err := on.Prepare("INSERT INTO " + writtenTable() + " (value) VALUES (" + parameter + ")")
	if err != nil {
		return nil, err
	}
	insert := "INSERT INTO " + writtenTable() + " (value) VALUES (1)"
	return &written{on: on, prepared: prepared, once: once, insert: insert}, nil
}

func (w *written) one() error {
	w.rows++
	return w.on.Exec(w.insert, 1)
}

func (w *written) onePrepared() error {
	w.rows++
	return w.prepared.Exec(1, 1)
}

func (w *written) oneEach() error {
	for range together {
		if err := w.one(); err != nil {
			return err
		}
	}
	return nil
}

func (w *written) oneTransaction() error {
	if err := w.on.Exec("BEGIN", 0); err != nil {
		return err
	}
	if err := w.oneEach(); err != nil {
		return err
	}
	return w.on.Exec("COMMIT", 0)
}

func (w *written) Test(iterations uint64) (uint64, error) {
	before := w.rows
	for i := uint64(0); i < iterations; i++ {
		if err := w.once(w); err != nil {
			return 0, err
		}
	}
	return w.rows - before, nil
}

// Reset counts. Each row holds a 1, so count and sum are the rows that were written.
func (w *written) Reset() error {
	found, err := w.on.Query("SELECT count(*), coalesce(sum(value), 0) FROM "+writtenTable(), 1)
	if err == nil && found != 2*w.rows {
		err = fmt.Errorf("the table's rows and values add up to %d, and should to %d", found, 2*w.rows)
	}
	return err
}

func (w *written) Close() error {
	w.on.Exec("ROLLBACK", 0) // of a transaction that failed half-way; without one it does nothing
	return errors.Join(w.prepared.Close(), w.on.Exec("DROP TABLE IF EXISTS "+writtenTable(), 0))
}

// dropCreate removes the table and makes it anew.
type dropCreate struct{ *written }

func (d dropCreate) Test(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		if err := all(d.on, drop(), create()); err != nil {
			return 0, err
		}
		sum++
	}
	return sum, nil
}
