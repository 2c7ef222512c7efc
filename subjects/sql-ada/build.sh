#!/bin/sh
# Builds the subject: build.sh SOURCE BUILD DATABASE. Functions and loops begin at boundaries, as in the other Ada subjects.
set -eu
case $(gcc -dumpmachine) in
    x86_64-*) target=x86_64 ;;
    *) target=other ;;
esac
exec gprbuild -q -p -P "$1/$3.gpr" "-XBUILD=$2" "-XTARGET=$target"
