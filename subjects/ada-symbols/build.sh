#!/bin/sh
# Builds the parser: build.sh SOURCE BUILD SIZE, where SIZE is the folder that holds the size of its tables.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: $0 SOURCE BUILD oversized|fitting" >&2
    exit 2
fi
source=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2"
gnatmake -q -g -O2 -gnat12 -gnatwa -gnaty3abcefhiklnprtM120 -I"$source/$3" "$source/source/parse.adb" -o parse
