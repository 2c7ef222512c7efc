# Builds the programs in the current folder: build.sh SOURCE FLAG...
set -eu
source=$1
shift
mkdir -p objects
gnatmake -q -D objects -o shared -aI"$source/src" -gnat2022 -gnatwa -gnatn "$@" "$source/src/shared.adb"
