# Lays the program out in the current folder and compiles it: `build.sh SOURCE`.
set -e
cp -R "$1/../python/kit" "$1/actor.py" .
rm -rf kit/__pycache__
python3 -m compileall -q --invalidation-mode unchecked-hash .
