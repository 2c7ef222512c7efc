# The clients' libraries that are installed here, each behind a comma.
for library in sqlite3 libpq libmariadb; do
    found=$(pkg-config --modversion "$library" 2>/dev/null) && printf ', %s %s' "$library" "$found"
done
exit 0
