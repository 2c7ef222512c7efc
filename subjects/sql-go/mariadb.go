//go:build mariadb

package main

import (
	"fmt"

	_ "github.com/go-sql-driver/mysql"
)

// MariaDB by go-sql-driver: statements without parameters as text, prepared ones by the binary protocol.

const (
	columns   = "id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER"
	parameter = "?"
	first     = "LIMIT"
	noResult  = "DO 1"
)

func connect() (connection, error) {
	values, err := server()
	if err != nil {
		return nil, err
	}
	return open("mysql", fmt.Sprintf("%[3]s:%[4]s@tcp(%[1]s:%[2]s)/%[5]s?tls=false", values...))
}

// settle has nothing to do: the server has confirmed its settings.
func settle(connection) error { return nil }
