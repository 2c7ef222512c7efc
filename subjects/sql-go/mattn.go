//go:build sqlite && !modernc

package main

import _ "github.com/mattn/go-sqlite3"

// SQLite by the system's library with the tag libsqlite3, else by the driver's own.
const driver = "sqlite3"

// Left alone, this driver does not have each commit written through. Each connection has one goroutine at a time, so the library need not lock it for
// every call, as this driver has it do by itself.
const options = "&_synchronous=FULL&_mutex=no"
