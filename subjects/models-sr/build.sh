# Builds every program of the folder SOURCE/programs in the current folder: `build.sh ANTIPHON SOURCE OPTIONS…`, options of `antiphon sr build`.
set -e
antiphon=$1 source=$2
shift 2
for program in "$source"/programs/*_*.sr "$source"/programs/loop.sr "$source"/programs/mm.sr; do
    name=$(basename "$program" .sr)
    "$antiphon" sr build "$@" -o "$name" --link "$source/programs/clock.c" "$source/programs/work.sr" "$program"
done
