# Python with its SQLite, and the drivers that the requirements pin, in one line, with the libraries that they bring or are compiled over.
drivers=$(sed -n 's/^\(psycopg\|mariadb\)==\([^ ]*\).*/, \1 \2/p' "${0%/*}"/requirements-*.txt | tr -d '\n')
libraries=$(sed -n 's/.*brings \(libpq [0-9.]*[0-9]\).*/, \1/p' "${0%/*}/requirements-postgresql.txt")$(sh "${0%/*}/../sql-c/libraries.sh" libmariadb)
python3 -c "import sqlite3, sys; print('Python', sys.version.split()[0] + ', SQLite', sqlite3.sqlite_version + sys.argv[1])" "$drivers$libraries"
