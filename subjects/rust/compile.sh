# Compiles a program of which a subject has several variants: `compile.sh SOURCE PROGRAM NAME ARGUMENT...`, of which the arguments are cargo's, leaves its executable as
# NAME in the current folder. Crates that variants have in common are compiled once, in a folder beside the builds, so one variant is built after the other.
set -e
source=$1 program=$2 name=$3
shift 3
exec 9>../compiled.lock
flock 9
cargo build --quiet --release --locked --manifest-path "$source/Cargo.toml" --target-dir ../compiled "$@"
cp "../compiled/release/$program" "$name"
