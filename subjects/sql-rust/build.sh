# Builds the program in the current folder: `build.sh SOURCE DATABASE WORD...`. Only the executable stays. Of the words, which are for the record of a run, `library=VERSION`
# must be true: it is the SQLite that the driver brings.
set -e
cargo fetch --quiet --locked --manifest-path "$1/Cargo.toml" --target "$(rustc -vV | sed -n 's/^host: //p')" || {
    echo "the drivers did not come from crates.io: connect this machine" >&2
    exit 1
}
cargo build --quiet --release --locked --manifest-path "$1/Cargo.toml" --target-dir target --features "$2"
mv target/release/sql measured
rm -rf target
sh "$1/../sql-c/brings.sh" measured "$@"
