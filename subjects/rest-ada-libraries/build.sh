# Builds the server of a library in the current folder: `build.sh SOURCE LIBRARY`. Only the executable stays.
# The library's project file is looked for where gprbuild looks: GPR_PROJECT_PATH, and GNAT's own folder.
set -e
case $2 in
    ews) home=https://github.com/simonjwright/ews ;;
    aws) home=https://github.com/AdaCore/aws ;;
    asf) home=https://github.com/stcarrez/ada-servlet ;;
esac
cp -R "$1/$2" sources
mkdir library
if ! gprbuild -q -p -P sources/rest.gpr -XLIBRARY_TYPE=static >log 2>&1; then
    missing=$(sed -n 's/.*project file "\([^"]*\)" not found.*/\1/p' log | head -n 1)
    if [ -n "$missing" ]; then
        echo "$missing.gpr was not found: get the library ($2: $home) with what it needs, and put the folders of the project files into GPR_PROJECT_PATH" >&2
    else
        cat log >&2
    fi
    exit 1
fi
mv sources/rest_server .
rm -r sources library log
