# Builds each profiled program three times in the current folder: `build.sh ANTIPHON SOURCE`. The programs are those of models-sr.
#
#   NAME.counted    with checks in loops and of array bounds
#   NAME.plain      without checks in loops
#   NAME.unchecked  without checks of array bounds either
set -e
antiphon=$1 programs=$2/../models-sr/programs
for name in dp_cp dp_cm pc_cp pc_cm rw_cp rw_cm ji_cp ji_cm; do
    build() {
        "$antiphon" sr build "$@" --link "$programs/clock.c" "$programs/work.sr" "$programs/$name.sr"
    }
    build -o "$name.counted" --model counted
    build -o "$name.plain" --model cooperative
    build -o "$name.unchecked" --model cooperative -O
done
cp "$2/profile.sh" "$2/classes.awk" .
