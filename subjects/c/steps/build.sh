# Builds libsubject.a in the current folder, of the kit, the steps and a subject's `subject.c`: `build.sh SOURCE LANGUAGE`. The
# kit's `main` is called by the program, and its end is the program's.
set -e
source=$1 language=$2
cc=${CC:-cc}
flags="-std=c17 -D_GNU_SOURCE -Wall -Wextra -pthread -O2 -fno-lto -falign-functions=64 -falign-loops=64"
for file in "$source"/../c/kit/*.c; do
    case $file in
    */protocol.c) own="-DKIT_LANGUAGE=\"$language\" -Dmain=kit_main -Dexit=subject_exit" ;;
    *) own= ;;
    esac
    $cc $flags $own -c -o "$(basename "$file" .c).o" "$file"
done
for file in "$source/../c/steps/steps.c" "$source/subject.c"; do
    $cc $flags -c -o "$(basename "$file" .c).o" "$file"
done
rm -f libsubject.a
ar rcs libsubject.a ./*.o
