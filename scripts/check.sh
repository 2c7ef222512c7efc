#!/bin/sh
# Checks the crates that changed since the upstream branch (else since the last commit): formatting,
# clippy, and the unit tests of their libraries. `make test` runs everything.
set -eu

base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
changed=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)

# A change of the workspace's own settings concerns every crate.
if echo "$changed" | grep -qE '^(Cargo\.(toml|lock)|rustfmt\.toml)$'; then
    folders=$(echo crates/* subjects/rust/kit)
else
    folders=$(echo "$changed" | sed -n 's|^\(crates/[^/]*\|subjects/rust/kit\)/.*|\1|p' | sort -u)
fi

packages=
libraries=
for folder in $folders; do
    [ -f "$folder/Cargo.toml" ] || continue
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$folder/Cargo.toml" | head -n 1)
    packages="$packages --package $name"
    [ ! -f "$folder/src/lib.rs" ] || libraries="$libraries --package $name"
done

cargo fmt --all --check
if [ -z "$packages" ]; then
    echo "No crate has changed since $(git log -1 --format='%h %s' "$base")."
    exit 0
fi
# shellcheck disable=SC2086 # the lists are meant to be split
cargo clippy $packages --all-targets -- -D warnings
# shellcheck disable=SC2086
[ -z "$libraries" ] || cargo test $libraries --lib
