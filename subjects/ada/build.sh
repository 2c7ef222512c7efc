#!/bin/sh
# Builds the Ada subject: build.sh SOURCE BUILD [FLAG…]
#
# SOURCE is this folder, BUILD a folder for objects and the program (BUILD/features), FLAGs are the variant's compiler flags.
# The kit is compiled with optimisation on in every variant, the tests with the variant's flags; a configuration file
# (-gnatec=…) goes to both.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 SOURCE BUILD [FLAG…]" >&2
    exit 2
fi
source=$(cd "$1" && pwd)
mkdir -p "$2/kit" "$2/tests"
build=$(cd "$2" && pwd)
shift 2

configuration=
for flag in "$@"; do
    case $flag in
        -gnatec=*) configuration=$flag ;;
    esac
done

case $(gcc -dumpmachine) in
    x86_64-*) ticks=x86_64 ;;
    *) ticks=other ;;
esac

# Every function and loop begins at a boundary, so that a change in one test does not move the others; functions with equal
# bodies (the copies of an A/A test) stay apart.
layout='-falign-functions=64 -falign-loops=32 -fno-ipa-icf'
checks='-gnat12 -gnatwa -gnaty3abcefhiklnprtM120'

kit="-I$source/kit -I$source/kit/ticks/$ticks"

cd "$build/kit"
# shellcheck disable=SC2086
gnatmake -q -c -u $kit "$source"/kit/*.adb "$source"/kit/ticks/$ticks/*.ads \
    -cargs -O2 $layout $checks ${configuration:+"$configuration"}

cd "$build/tests"
# shellcheck disable=SC2086
gnatmake -q $kit "-aO$build/kit" "-I$source/features" features.adb -o "$build/features.new" \
    -cargs $layout $checks "$@"
mv "$build/features.new" "$build/features"
