# Lays the program out in the current folder and compiles it: `build.sh SOURCE VARIANT WORD...`. Drivers that are not Python's own come from the Python
# Package Index, at versions and hashes that requirements-VARIANT.txt pins. Of the words, which are for the record of a run, `library=VERSION` must be true:
# it is the SQLite that the driver brings.
set -e
cp -R "$1/../python/kit" "$1/measured" .
rm -rf kit/__pycache__ measured/__pycache__
# What is the database's own, and what is the driver's.
printf 'from measured.%s import *\n' "of_${2%%-*}" "$(echo "$2" | tr - _)" >measured/driver.py
requirements="$1/requirements-$2.txt"
if [ "$2" = mariadb-mysqlclient ]; then
    # It would be compiled over MySQL's own library where that is installed, too.
    MYSQLCLIENT_CFLAGS=$(mariadb_config --cflags)
    MYSQLCLIENT_LDFLAGS=$(mariadb_config --libs)
    export MYSQLCLIENT_CFLAGS MYSQLCLIENT_LDFLAGS
fi
if [ -f "$requirements" ]; then
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target=. -r "$requirements" || {
        echo "the driver did not come from the Python Package Index: connect this machine, or see above what \`pip3\` lacks" >&2
        exit 1
    }
fi
# The library that the requirements name, which is printed with the version.
case $2 in
    sqlite-apsw) brings=$(python3 -c 'import apsw; print("SQLite", apsw.sqlite_lib_version())') ;;
    postgresql) brings=$(python3 -c 'import psycopg; print("libpq %d.%d" % divmod(psycopg.pq.version(), 10000))') ;;
    postgresql-psycopg2) brings=$(python3 -c 'from psycopg2 import extensions; print("libpq %d.%d" % divmod(extensions.libpq_version(), 10000))') ;;
    *) brings= ;;
esac
if [ "$brings" ]; then
    grep -q "brings $brings\.\$" "$requirements" || {
        echo "the driver brings $brings: say so in $requirements" >&2
        exit 1
    }
fi
for word; do
    case $word in library=*) ;; *) continue ;; esac
    [ "$brings" = "SQLite ${word#*=}" ] || {
        echo "the driver brings $brings: say so in subject.toml" >&2
        exit 1
    }
done
python3 -m compileall -q --invalidation-mode unchecked-hash kit measured
