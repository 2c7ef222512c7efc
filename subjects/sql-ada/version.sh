# The compiler, and the libraries of the databases, in one line. GNATCOLL's do not tell their version.
echo "$(gnatmake --version | head -1)$(sh "${0%/*}/../sql-c/libraries.sh")"
