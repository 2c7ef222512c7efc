//go:build postgresql && stdlib

package main

import _ "github.com/jackc/pgx/v5/stdlib"

// PostgreSQL by pgx behind database/sql: what is not prepared as text by the simple protocol, where pgx would by itself prepare and keep all.

func connect() (connection, error) {
	server, err := source()
	if err != nil {
		return nil, err
	}
	return open("pgx", server+" default_query_exec_mode=simple_protocol")
}
