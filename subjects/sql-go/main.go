// Measured holds the tests of databases for Go: database/sql with mattn's or modernc's driver for SQLite, pgx, also behind database/sql, or lib/pq for
// PostgreSQL, go-sql-driver for MariaDB. The database and the driver are built in by their tags.
package main

import (
	"errors"
	"fmt"
	"slices"

	"antiphon/subjects/go/kit"
)

func main() {
	kit.Serve(kit.Subject{Language: "Go", Tests: slices.Concat(reading(), writing(), clients())})
}

// nothing is the control: the loop without the statement.
type nothing struct{}

func (nothing) Control(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		sum += i
	}
	return sum, nil
}

func reading() []kit.Test {
	tests := []kit.Test{
		{Name: "connect", Work: "sql.connect", Prepare: func(uint64) (kit.Frames, error) {
			_, err := own()
			return connecting{}, err
		}},
		{Name: "do.1", Work: "sql.do.1", Prepare: func(uint64) (kit.Frames, error) {
			on, err := own()
			return doing{on: on}, err
		}},
		query("select.1", "sql.select.1", func() string { return "SELECT 1" }, 1),
	}
	for _, rows := range []int{1, 10, 50, 100, 200, 500, 1000} {
		name := fmt.Sprintf("rows.%d", rows)
		text := func() string { return fmt.Sprintf("SELECT * FROM %s LIMIT %d", rowsTable(), rows) }
		tests = append(tests, query(name, "sql."+name, text, rows))
	}
	for _, rows := range []int{1, 10, 100, 1000} {
		tests = append(tests, prepared(rows))
	}
	return tests
}

// connecting connects, selects 1 and closes.
type connecting struct{ nothing }

func (connecting) Test(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		to, err := connect()
		if err != nil {
			return 0, err
		}
		one, err := to.Query("SELECT 1", 1)
		if err := errors.Join(err, to.Close()); err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

// doing is a statement without a result.
type doing struct {
	nothing
	on connection
}

func (d doing) Test(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		if err := d.on.Exec(noResult, 0); err != nil {
			return 0, err
		}
		sum++
	}
	return sum, nil
}

// textQuery is sent as text each time.
type textQuery struct {
	nothing
	on   connection
	text string
	rows int
}

func query(name, work string, text func() string, rows int) kit.Test {
	return kit.Test{Name: name, Work: work, Prepare: func(uint64) (kit.Frames, error) {
		on, err := own()
		return textQuery{on: on, text: text(), rows: rows}, err
	}}
}

func (q textQuery) Test(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		one, err := q.on.Query(q.text, q.rows)
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

// preparedQuery was prepared once, with its rows as the parameter.
type preparedQuery struct {
	nothing
	statement
	rows int
}

func prepared(rows int) kit.Test {
	prepare := func(uint64) (kit.Frames, error) {
		on, err := own()
		if err != nil {
			return nil, err
		}
		statement, err := on.Prepare("SELECT * FROM " + rowsTable() + " " + first + " " + parameter)
		return preparedQuery{statement: statement, rows: rows}, err
	}
	return kit.Test{Name: fmt.Sprintf("prepared.%d", rows), Work: fmt.Sprintf("sql.rows.%d", rows), Prepare: prepare}
}

func (q preparedQuery) Test(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		one, err := q.Query(int64(q.rows), q.rows)
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}
