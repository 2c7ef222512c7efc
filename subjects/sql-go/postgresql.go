//go:build postgresql

package main

import "fmt"

// What all drivers of PostgreSQL are given: pgx by its own interface in pgx.go, and over database/sql by its package stdlib in stdlib.go or lib/pq in
// pq.go, under their tags.

const (
	columns   = "id SERIAL PRIMARY KEY, value INTEGER"
	parameter = "$1"
	first     = "LIMIT"
	noResult  = "SET statement_timeout TO 0"
)

// source names the server in libpq's words.
func source() (string, error) {
	values, err := server()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=%s sslmode=disable", values...), nil
}

// settle has nothing to do: the server has confirmed its settings.
func settle(connection) error { return nil }
