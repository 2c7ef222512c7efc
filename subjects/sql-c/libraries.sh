# The clients' libraries that are installed here, or those of them that are named, each behind a comma.
[ $# -gt 0 ] || set -- sqlite3 libpq libmariadb
for library; do
    found=$(pkg-config --modversion "$library" 2>/dev/null) && printf ', %s %s' "$library" "$found"
done
exit 0
