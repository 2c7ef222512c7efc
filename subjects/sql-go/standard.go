//go:build sqlite || mariadb || pq || stdlib

package main

import (
	"database/sql"
	"errors"
)

// Databases over database/sql: one connection of its pool.

type standard struct {
	pool *sql.DB
	*sql.Conn
}

func (s standard) Close() error {
	return errors.Join(s.Conn.Close(), s.pool.Close())
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
		found, err := result.RowsAffected()
		if err == nil && found != wanted {
			err = otherRows(found, wanted)
		}
		return err
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
		return total(rows, len(columns), wanted)
	}
}

// open makes a pool and takes its one connection.
func open(driver, source string) (connection, error) {
	pool, err := sql.Open(driver, source)
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
