# Gets SR 2.3.3 of the University of Arizona, builds it and installs it: `get.sh FOLDER`. Its switch between processes is written for
# processors of 32 bits, so an x86 builds and runs it so. Then: `antiphon measure layer --with-sr FOLDER`.
set -e
[ $# = 1 ] || { echo "usage: get.sh FOLDER" >&2; exit 2; }
need() {
    echo "get.sh: $1: apt install git make gcc gcc-multilib bison flex, on an x86 processor" >&2
    exit 1
}
for command in git make gcc bison flex; do
    command -v "$command" >/dev/null || need "\`$command\` is missing"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
echo '#include <stdio.h>
int main(void) { return 0; }' >"$work/try.c"
gcc -m32 -o "$work/try" "$work/try.c" 2>/dev/null || need "gcc makes no programs of 32 bits"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# The compiler of SR and of the programs that SR compiles: C as it was then.
printf '#!/bin/sh\nexec gcc -m32 -std=gnu89 -fcommon -fno-strict-aliasing -fno-pie -no-pie -w "$@"\n' >"$folder/srcc"
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s --32 "$@"\n' "$(command -v as)" >"$work/bin/as"
chmod +x "$folder/srcc" "$work/bin/as"

git clone --quiet --depth 1 https://github.com/GunterMueller/SR_and_MPD_Languages "$work/sr"
cd "$work/sr/SR/Code/sr"
sed -e "s|^SRSRC = .*|SRSRC = $PWD|" -e "s|^SRCMD = .*|SRCMD = $folder|" -e "s|^SRLIB = .*|SRLIB = $folder|" -e "s|^MAN\(.\) = .*|MAN\1 =|" \
    -e "s|^CCPATH = .*|CCPATH = $folder/srcc|" -e "s|^RSHPATH = .*|RSHPATH = /usr/bin/rsh|" -e "s|^LIB\([CR]\) = .*|LIB\1 =|" \
    -e "s|^LIBM = .*|LIBM = -lm -lc|" -e "s|^XINCL = .*|XINCL =|" Configuration >configured
mv configured Configuration
if ! PATH=$work/bin:$PATH make CC="$folder/srcc" CFLAGS="-O2 -DYYDEBUG=1" all install >log 2>&1; then
    tail -n 20 log >&2
    exit 1
fi
"$folder/sr" -v
