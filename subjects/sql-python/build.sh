# Lays the program out in the current folder and compiles it: `build.sh SOURCE sqlite|postgresql`. Drivers that are not Python's own come from
# the Python Package Index, at versions and hashes that requirements-DATABASE.txt pins.
set -e
cp -R "$1/../python/kit" "$1/measured" .
rm -rf kit/__pycache__ measured/__pycache__
requirements="$1/requirements-$2.txt"
if [ -f "$requirements" ]; then
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target=. -r "$requirements" || {
        echo "the driver did not come from the Python Package Index: connect this machine, or see above what \`pip3\` lacks" >&2
        exit 1
    }
fi
if [ "$2" = postgresql ]; then
    # The library that the requirements name, which is printed with the version.
    brings=$(python3 -c 'import psycopg; print("libpq %d.%d" % divmod(psycopg.pq.version(), 10000))')
    grep -q "brings $brings\.\$" "$requirements" || {
        echo "psycopg brings $brings: say so in $requirements" >&2
        exit 1
    }
fi
python3 -m compileall -q --invalidation-mode unchecked-hash kit measured
