# Builds the server in the current folder: build.sh SOURCE FLAG...
set -eu
source=$1
shift
c++ "$@" -std=c++20 -Wall -Wextra -pthread -o server "$source/server.cpp"
