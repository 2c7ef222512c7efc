#!/bin/sh
# Builds the rendezvous programs: build.sh SOURCE BUILD SWITCHES [FLAG…]
#
# SOURCE is this folder, BUILD a folder for objects and the program (BUILD/programs), SWITCHES how switches are counted
# (a folder in switches/), FLAGs are compiler flags. The kit is that of ../ada, compiled with optimisation on; a configuration
# file (-gnatec=…) goes to all.
set -eu

if [ $# -lt 3 ]; then
    echo "usage: $0 SOURCE BUILD plain|counted [FLAG…]" >&2
    exit 2
fi
source=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
switches=$3
shift 3

kit=$source/../ada/kit
layout='-falign-functions=64 -falign-loops=32 -fno-ipa-icf'
checks='-gnat12 -gnatwa -gnaty3abcefhiklnprtM120'

configuration=
for flag in "$@"; do
    case $flag in
        -gnatec=*) configuration=$flag ;;
    esac
done

case $(gcc -dumpmachine) in
    x86_64-*) target=$kit/targets/x86_64 ;;
    *) target=$kit/targets/other ;;
esac

# within FOLDER COMMAND…: runs the command in a folder of the build, which is made if need be
within() {
    mkdir -p "$build/$1"
    (cd "$build/$1" && shift && "$@")
}

# shellcheck disable=SC2086 # layout and checks are lists of words
{
    within kit gnatmake -q -j0 -c "-I$kit" "-I$target" kit-protocol.adb \
        -cargs -O2 $layout $checks ${configuration:+"$configuration"}

    within objects gnatmake -q -j0 "-I$kit" "-I$target" "-aO$build/kit" "-I$source/programs" \
        "-I$source/switches/$switches" "-I$source/rendezvous" "-I$source/general" "-I$source/optimised" \
        "-I$source/servers" "-I$source/tool" "-I$source/tool_general" "-I$source/tool_optimised" "-I$source/hand" \
        main.adb -o "$build/programs.new" -cargs $layout $checks "$@"
}
mv "$build/programs.new" "$build/programs"
