# Builds the program in the current folder: `build.sh SOURCE`.
set -e
cargo fetch --quiet --locked --manifest-path "$1/Cargo.toml" --target "$(rustc -vV | sed -n 's/^host: //p')" || {
    echo "openraft did not come from crates.io: connect this machine" >&2
    exit 1
}
sh "$1/../rust/compile.sh" "$1" layer-openraft replicas
