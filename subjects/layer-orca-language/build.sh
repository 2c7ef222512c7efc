# Builds the subject in the current folder: `build.sh ANTIPHON SOURCE`.
set -e
antiphon=$1 source=$2
sh "$source/../c/steps/build.sh" "$source" Orca
"$antiphon" orca build -o layer --with "$source/layer.c" --with libsubject.a "$source/layer.imp"
