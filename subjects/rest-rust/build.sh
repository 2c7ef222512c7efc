# Builds a server in the current folder: `build.sh SOURCE NAME`. Only the executable stays.
set -e
cargo build --quiet --release --locked --manifest-path "$1/Cargo.toml" --target-dir target --bin "$2"
mv "target/release/$2" server
rm -rf target
