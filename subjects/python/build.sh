# Lays the program out in the current folder and compiles it: `build.sh SOURCE`.
set -e
cp -R "$1/kit" "$1/examined.py" .
rm -rf kit/__pycache__
python3 -m compileall -q --invalidation-mode unchecked-hash .
