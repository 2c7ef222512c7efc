# Builds the program: `build.sh SOURCE BUILD TAGS WORD...`. The modules that the variant is built of come first: `go build` would bring them, too, but says of each
# alone that it did not come. Of the words, which are for the record of a run, `library=VERSION` must be true: it is the SQLite that the driver brings.
set -e
go list -C "$1" -deps -tags "$3" . >/dev/null || {
    echo "the drivers did not come from Go's module proxy: connect this machine" >&2
    exit 1
}
go build -C "$1" -tags "$3" -o "$2/measured" .
sh "$1/../sql-c/brings.sh" "$2/measured" "$@"
