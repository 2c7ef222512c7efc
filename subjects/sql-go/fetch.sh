# Brings the modules that a variant is built of to this machine: fetch.sh SOURCE TAGS. `go build` would, too, but says of each alone that it did not come.
go list -C "$1" -deps -tags "$2" . >/dev/null || {
    echo "the drivers did not come from Go's module proxy: connect this machine" >&2
    exit 1
}
