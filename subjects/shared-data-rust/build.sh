# Builds the program in the current folder: `build.sh SOURCE`. Only the executable stays.
set -e
cargo build --quiet --release --locked --manifest-path "$1/Cargo.toml" --target-dir target
mv target/release/shared shared
rm -rf target
