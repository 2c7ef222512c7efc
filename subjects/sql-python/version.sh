# Python with its SQLite, and the drivers that the requirements pin, in one line, each with the library that it brings; then the one that MariaDB's are compiled over.
drivers=$(
    for requirements in "${0%/*}"/requirements-*.txt; do
        sed -n '/==/{s/\(.*\)==\([^ ]*\).*/, \1 \2/p;q;}' "$requirements"
        sed -n 's/.*brings \(.*[0-9]\)\.$/ with \1/p' "$requirements"
    done | tr -d '\n'
)
libraries=$(sh "${0%/*}/../sql-c/libraries.sh" libmariadb)
python3 -c "import sqlite3, sys; print('Python', sys.version.split()[0] + ', SQLite', sqlite3.sqlite_version + sys.argv[1])" "$drivers$libraries"
