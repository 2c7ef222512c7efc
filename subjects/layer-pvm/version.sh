#!/bin/sh
# Prints the version of PVM that the subject is built with.
set -eu
printf '#include <pvm3.h>\nPVM_MAJOR_VERSION.PVM_MINOR_VERSION.PVM_PATCH_VERSION\n' | cc -E -P - | tail -n 1 |
    sed 's/ //g; s/^/PVM /'
