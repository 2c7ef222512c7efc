# The compiler, the drivers that Cargo.lock names, and the system's SQLite, in one line.
drivers=$(grep -A1 -E '^name = "(rusqlite|postgres|mysql|sqlx)"$' "${0%/*}/Cargo.lock" | sed -n 's/^name = "\(.*\)"$/, \1/p; s/^version = "\(.*\)"$/ \1/p' | tr -d '\n')
echo "$(rustc --version)$drivers$(sh "${0%/*}/../sql-c/libraries.sh" sqlite3)"
