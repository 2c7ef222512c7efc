//go:build postgresql || mariadb

package main

// server is host, port, user, password and the database's name.
func server() ([]any, error) {
	var values []any
	for _, name := range []string{"HOST", "PORT", "USER", "PASSWORD", "NAME"} {
		value, err := told(name)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}
