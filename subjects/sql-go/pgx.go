//go:build postgresql && !pq && !stdlib

package main

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PostgreSQL by pgx's own interface: statements as text by the simple protocol, prepared ones by the extended one.

type native struct {
	*pgx.Conn
	prepared *int
}

func connect() (connection, error) {
	server, err := source()
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	to, err := pgx.ConnectConfig(background, config)
	if err != nil {
		return nil, err
	}
	return native{to, new(int)}, nil
}

func (n native) Close() error { return n.Conn.Close(background) }

func (n native) Exec(text string, rows int64) error {
	return changed(n.Conn.Exec(background, text))(rows)
}

func (n native) Query(text string, rows int) (uint64, error) {
	return added(n.Conn.Query(background, text))(rows)
}

func (n native) Prepare(text string) (statement, error) {
	*n.prepared++
	name := fmt.Sprintf("s%d", *n.prepared)
	_, err := n.Conn.Prepare(background, name, text)
	return kept{n.Conn, name}, err
}

type kept struct {
	on   *pgx.Conn
	name string
}

func (k kept) Exec(value int64, rows int64) error {
	return changed(k.on.Exec(background, k.name, pgx.QueryExecModeCacheStatement, value))(rows)
}

func (k kept) Query(value int64, rows int) (uint64, error) {
	return added(k.on.Query(background, k.name, pgx.QueryExecModeCacheStatement, value))(rows)
}

func (k kept) Close() error { return k.on.Deallocate(background, k.name) }

func changed(tag pgconn.CommandTag, err error) func(int64) error {
	return func(wanted int64) error {
		if err == nil && wanted != 0 && tag.RowsAffected() != wanted {
			err = otherRows(tag.RowsAffected(), wanted)
		}
		return err
	}
}

func added(rows pgx.Rows, err error) func(int) (uint64, error) {
	return func(wanted int) (uint64, error) {
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		return total(rows, len(rows.FieldDescriptions()), wanted)
	}
}
