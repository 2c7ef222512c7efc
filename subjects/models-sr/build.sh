# Builds every program of the folder SOURCE/programs in the current folder: `build.sh ANTIPHON SOURCE OPTIONS…`, options of `antiphon sr build`.
set -e
antiphon=$1 source=$2
shift 2
for program in "$source"/programs/*_*.sr "$source"/programs/loop.sr "$source"/programs/mm.sr; do
    basename "$program" .sr
done | xargs -P "$(nproc)" -I NAME "$antiphon" sr build "$@" -o NAME --link "$source/programs/clock.c" "$source/programs/work.sr" "$source/programs/NAME.sr"
