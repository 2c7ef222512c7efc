#!/bin/sh
# Makes PVM's libraries of the archive that cargo has built: scripts/pvm-libraries.sh ARCHIVE FOLDER
#
# All of the archive becomes one object, of which only PVM's names can be seen. So a program may be linked
# with another library in Rust, such as libpanda.a, besides; and C's variadic functions are in the shared
# library, which a library that Rust makes would not show.
set -eu
archive=$1
folder=$2
mkdir -p "$folder"
object=$folder/pvm3.o
# Without groups of sections, of which a program would take one library's alone.
ld -r --force-group-allocation --whole-archive "$archive" --no-whole-archive -o "$object"
objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
    --wildcard --keep-global-symbol='pvm*' --keep-global-symbol='Pvm*' --keep-global-symbol=lpvmerr "$object"
rm -f "$folder/libpvm3.a"
ar rcs "$folder/libpvm3.a" "$object"
${CC:-cc} -shared -o "$folder/libpvm3.so.3" -Wl,-soname,libpvm3.so.3 "$object" -lpthread -ldl -lm -lgcc_s
rm "$object"
ln -sf libpvm3.so.3 "$folder/libpvm3.so"
# PVM has its groups and Fortran's interface in libraries of their own.
${CC:-cc} -shared -o "$folder/libgpvm3.so.3" -Wl,-soname,libgpvm3.so.3 -Wl,--no-as-needed -L"$folder" -l:libpvm3.so.3
ln -sf libgpvm3.so.3 "$folder/libgpvm3.so"
# Makefiles look below PVM_ROOT/lib/PVM_ARCH.
ln -sfn . "$folder/LINUX64"
for name in libgpvm3.a libfpvm3.a libfpvm3.so; do
    echo 'INPUT(-lpvm3)' >"$folder/$name"
done
