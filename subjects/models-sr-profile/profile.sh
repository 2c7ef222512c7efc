# Counts the instructions of a program under callgrind, in its three builds: `profile.sh PROGRAM ARGUMENTS…`.
#
# Prints the program's answer and how its instructions divide: generated code without checks (work), what the checks of array bounds and
# of loops add to it, semaphores (but for their fast paths, which are in generated code), scheduling, and libraries with the start.
set -e
here=$(dirname "$0") program=$1
shift
out=$(mktemp -d)
began=$(date +%s%N)
trap 'rm -rf "$out"' EXIT

# The four classes of a build, under a model.
classes() {
    build=$1 model=$2
    shift 2
    ANTIPHON_SR=model=$model valgrind --tool=callgrind --dump-instr=yes --compress-pos=no --compress-strings=no \
        --callgrind-out-file="$out/$build" "$here/$program.$build" "$@" >"$out/answer" 2>"$out/log" || {
        cat "$out/log" >&2
        exit 1
    }
    nm -n "$here/$program.$build" >"$out/symbols"
    awk -v executable="/$program.$build" -f "$here/classes.awk" "$out/symbols" "$out/$build"
}

unchecked=$(classes unchecked cooperative "$@")
plain=$(classes plain cooperative "$@")
counted=$(classes counted counted "$@")
grep -v '^@@' "$out/answer"
echo "$unchecked $plain $counted" | awk -v elapsed="$(($(date +%s%N) - began))" '{
    work = $1
    bounds = $5 > $1 ? $5 - $1 : 0
    loops = $9 > $5 ? $9 - $5 : 0
    printf "@@ run elapsed_ns=%s work=%.0f bounds=%.0f loops=%.0f semaphores=%.0f scheduling=%.0f libraries=%.0f\n", \
        elapsed, work, bounds, loops, $10, $11, $12
}'
