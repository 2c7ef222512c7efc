//go:build sqlite && modernc

package main

import _ "modernc.org/sqlite"

// SQLite in Go: the library's C, translated by the driver's authors. Nothing of C is built or called.
const driver = "sqlite"

// Each commit is written through by itself. The library locks a connection for every call (SQLITE_OPEN_FULLMUTEX), for which this driver has no option.
const options = ""
