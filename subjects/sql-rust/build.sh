# Builds the program in the current folder: `build.sh SOURCE DATABASE WORD...`. Of the words, which are for the record of a run, `library=VERSION`
# must be true: it is the SQLite that the driver brings.
set -e
cargo fetch --quiet --locked --manifest-path "$1/Cargo.toml" --target "$(rustc -vV | sed -n 's/^host: //p')" || {
    echo "the drivers did not come from crates.io: connect this machine" >&2
    exit 1
}
sh "$1/../rust/compile.sh" "$1" sql measured --features "$2"
sh "$1/../sql-c/brings.sh" measured "$@"
