# Builds every program of the folder SOURCE/programs in the current folder: `build.sh ANTIPHON SOURCE OPTIONS…`, options of `antiphon sr build`.
set -e
antiphon=$1 source=$2
shift 2
for program in "$source"/programs/*.sr; do
    name=$(basename "$program" .sr)
    [ "$name" = work ] || "$antiphon" sr build "$@" -o "$name" "$source/programs/work.sr" "$program"
done
