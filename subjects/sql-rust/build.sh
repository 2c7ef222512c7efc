# Builds the program in the current folder: `build.sh SOURCE DATABASE`. Only the executable stays.
set -e
cargo build --quiet --release --locked --manifest-path "$1/Cargo.toml" --target-dir target --features "$2"
mv target/release/sql measured
rm -rf target
