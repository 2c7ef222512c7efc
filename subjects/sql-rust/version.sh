# The compiler, and the drivers that Cargo.lock names, in one line.
drivers=$(grep -A1 -E '^name = "(rusqlite|postgres|mysql)"$' "${0%/*}/Cargo.lock" | sed -n 's/^name = "\(.*\)"$/, \1/p; s/^version = "\(.*\)"$/ \1/p' | tr -d '\n')
echo "$(rustc --version)$drivers"
