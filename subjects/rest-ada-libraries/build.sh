# Builds the server of a library in the current folder: `build.sh SOURCE LIBRARY`. Only the executable stays.
# The library's project file is looked for where gprbuild looks: GPR_PROJECT_PATH, and GNAT's own folder.
set -e
cp -R "$1/$2" sources
mkdir library
if ! gprbuild -q -p -P sources/rest.gpr -XLIBRARY_TYPE=static >log 2>&1; then
    if grep -q "project file \"$2\" not found" log; then
        echo "$2.gpr was not found: get the library (ews: https://github.com/simonjwright/ews) and put its folder into GPR_PROJECT_PATH" >&2
    else
        cat log >&2
    fi
    exit 1
fi
mv sources/rest_server .
rm -r sources library log
