#!/bin/sh
# Builds the subject in the current folder: build.sh SOURCE FLAG...
set -eu
source=$1
shift
exec make -f "$source/Makefile" SOURCE="$source" CFLAGS="$*"
