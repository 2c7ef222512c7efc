#!/bin/sh
# Stands for ssh: called by a link, beside which `reach` says how `$host` runs the command `$*`, and `log` notes what `ps` would show.
# It is a file of the source and not written by the tests: one that was just written cannot be executed while a process that another
# thread has just forked still holds it open for writing.
beside=$(dirname "$0")
host=$1
shift
printf '%s\n' "$host $*" >>"$beside/log"
. "$beside/reach"
