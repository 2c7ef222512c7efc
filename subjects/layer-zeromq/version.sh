#!/bin/sh
# Prints the version of ZeroMQ that the subject is built with.
set -eu
printf '#include <zmq.h>\nZMQ_VERSION_MAJOR.ZMQ_VERSION_MINOR.ZMQ_VERSION_PATCH\n' | cc -E -P - | tail -n 1 |
    sed 's/ //g; s/^/ZeroMQ /'
