# Python with its SQLite, and the drivers that the requirements pin, in one line.
drivers=$(sed -n 's/^\(psycopg\|mariadb\)==\([^ ]*\).*/, \1 \2/p' "${0%/*}"/requirements-*.txt | tr -d '\n')
python3 -c "import sqlite3, sys; print('Python', sys.version.split()[0] + ', SQLite', sqlite3.sqlite_version + sys.argv[1])" "$drivers"
