#!/bin/sh
# Moves an executable's debug information into EXECUTABLE.debug beside it: `split-debug.sh EXECUTABLE`.
set -eu
if ! command -v objcopy >/dev/null 2>&1 || ! readelf -S "$1" 2>/dev/null | grep -q '\.debug_line'; then
    exit 0 # It was moved before, or there is no tool for it.
fi
objcopy --only-keep-debug --compress-debug-sections=zlib "$1" "$1.debug"
# What runs is replaced and not overwritten.
objcopy --strip-debug --add-gnu-debuglink="$1.debug" "$1" "$1.new"
mv "$1.new" "$1"
