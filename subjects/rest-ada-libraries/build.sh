# Builds the server of a project file in the current folder: `build.sh SOURCE FOLDER/PROJECT.gpr`. Only the executable stays.
# The library is looked for where gprbuild looks: GPR_PROJECT_PATH, and GNAT's own folders.
set -e
mkdir sources
cp -R "$1/aws" "$1/aws_settings" "$1/asf" "$1/ews" sources
if ! gprbuild -q -p -P "sources/$2" -XLIBRARY_TYPE=static >log 2>&1; then
    cat log >&2
    exit 1
fi
mv "sources/${2%/*}/rest_server" .
rm -r sources log
