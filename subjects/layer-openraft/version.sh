# The compiler, and the openraft that Cargo.lock names, in one line.
openraft=$(grep -A1 '^name = "openraft"$' "${0%/*}/Cargo.lock" | sed -n 's/^version = "\(.*\)"$/\1/p')
echo "openraft $openraft, $(rustc --version)"
