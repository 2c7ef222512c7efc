# Builds the server in the current folder: `build.sh SOURCE TASKS`. Only the executable stays.
set -e
mkdir objects
cd objects
# The number of tasks is a constant of the program.
sed "s/@TASKS@/$2/" "$1/src/settings.ads.in" >settings.ads
# GNAT's run-time within it: the shared one is three times as large as what is used of it, and stays in memory.
gnatmake -q -O2 -gnatwa -gnatn -I. -I"$1/src" "$1/src/rest_server.adb" -o ../rest_server -bargs -static
cd ..
rm -r objects
