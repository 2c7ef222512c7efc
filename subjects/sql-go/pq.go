//go:build postgresql && pq

package main

import (
	"os"

	_ "github.com/lib/pq"
)

// PostgreSQL by lib/pq: by itself it sends what has no parameters as text by the simple protocol, and reads the numbers of prepared statements in
// binary. Its binary_parameters would change neither: it is about how parameters are sent, and saves statements with some from being prepared.

// Words for libpq that it does not know have it refuse to connect. This one, by the laboratory, keeps libpq from Kerberos, which lib/pq has none of.
func init() { os.Unsetenv("PGGSSENCMODE") }

func connect() (connection, error) {
	server, err := source()
	if err != nil {
		return nil, err
	}
	return open("postgres", server)
}
