# Builds the subject in the current folder: `build.sh ANTIPHON SOURCE`.
set -e
antiphon=$1 source=$2
sh "$source/../c/steps/build.sh" "$source" SR
"$antiphon" sr build --model cooperative -o layer --link libsubject.a "$source/partner.sr" "$source/layer.sr"
cp "$source/start.sh" start.sh
