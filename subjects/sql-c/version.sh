# The compiler, and the libraries of the databases that are installed here.
cc --version | head -1
for library in sqlite3 libpq libmariadb; do
    version=$(pkg-config --modversion "$library" 2>/dev/null) && echo "$library $version"
done
exit 0
