#!/bin/sh
# Prints the command, whose compiler and libraries the subject is built with.
set -eu
"$1" subject identity
