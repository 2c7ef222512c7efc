# Builds the subject of layer-sr's sources in the current folder: `build.sh SR SOURCE FLAG...`. SR is the original's compiler.
set -e
sr=$1 source=$2
shift 2
program=$source/../layer-sr
"$sr" -q -c "$@" "$program/partner.sr" "$program/layer.sr"
# The original is mostly of 32 bits: the fifth byte of its object files is 1.
case $(od -An -tu1 -j4 -N1 Interfaces/partner.o) in
*1) bits=-m32 ;;
*) bits= ;;
esac
CC="cc $bits" sh "$source/../c/steps/build.sh" "$program" SR
"$sr" -q "$@" -o layer "$program/partner.sr" "$program/layer.sr" libsubject.a
