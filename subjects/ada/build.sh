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
mkdir -p "$2"
build=$(cd "$2" && pwd)
shift 2

# Every function and loop begins at a boundary, so that a change in one test does not move the others; functions with equal
# bodies (the copies of an A/A test) stay apart.
layout='-falign-functions=64 -falign-loops=32 -fno-ipa-icf'
# GCC would vectorise the hundred statements of a control frame in line but not those behind parameters, and test - control
# would then measure that (SLP; the C subject forbids it as well)
scalar='-fno-tree-slp-vectorize'
checks='-gnat12 -gnatwa -gnaty3abcefhiklnprtM120'

configuration=
for flag in "$@"; do
    case $flag in
        -gnatec=*) configuration=$flag ;;
    esac
done

case $(gcc -dumpmachine) in
    x86_64-*) target=$source/kit/targets/x86_64 ;;
    *) target=$source/kit/targets/other ;;
esac

# within FOLDER COMMAND…: runs the command in a folder of the build, which is made if need be
within() {
    mkdir -p "$build/$1"
    (cd "$build/$1" && shift && "$@")
}

# shellcheck disable=SC2086 # layout, scalar and checks are lists of words
{
    within kit gnatmake -q -c "-I$source/kit" "-I$target" kit-protocol.adb \
        -cargs -O2 $layout $checks ${configuration:+"$configuration"}

    within generator gnatmake -q "-I$source/features/generator" generate.adb -cargs $checks
    within generated "$build/generator/generate"

    within tests gnatmake -q -j0 "-I$source/kit" "-I$target" "-aO$build/kit" "-I$build/generated" \
        "-I$source/features" "-I$source/features/calls" "-I$source/features/allocation" "-I$source/features/exceptions" \
        features.adb -o "$build/features.new" -cargs $layout $checks "$@" $scalar
}
mv "$build/features.new" "$build/features"
