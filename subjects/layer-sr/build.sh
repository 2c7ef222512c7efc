# Builds the subject in the current folder: `build.sh ANTIPHON SOURCE`. The kit's `main` is called by the program, and its
# end is the program's.
set -e
antiphon=$1 source=$2
cc=${CC:-cc}
flags="-std=c17 -D_GNU_SOURCE -Wall -Wextra -pthread -O2 -fno-lto -falign-functions=64 -falign-loops=64"
for file in "$source"/../c/kit/*.c; do
    case $file in
    */protocol.c) own='-DKIT_LANGUAGE="SR" -Dmain=kit_main -Dexit=subject_exit' ;;
    *) own= ;;
    esac
    "$cc" $flags $own -c -o "$(basename "$file" .c).o" "$file"
done
"$cc" $flags -I "$source/../c/kit" -c -o subject.o "$source/subject.c"
rm -f libsubject.a
ar rcs libsubject.a ./*.o
"$antiphon" sr build --model cooperative -o layer --link libsubject.a "$source/partner.sr" "$source/layer.sr"
cp "$source/start.sh" start.sh
