# Builds the subject in the current folder: `build.sh SOURCE DRIVER`. Leaves `run`, which starts it with the newest Java. The driver is the one that the file
# `drivers` has by that name, with its SHA-256; `sql/Driver.java` knows it by the same.
set -e
java=$(sh "$1/../models-java/find-java.sh")
line=$(grep "^$2 " "$1/drivers")
# shellcheck disable=SC2086 # the line's words are the driver's name and hash
jar=$(sh "$1/../java/fetch.sh" ${line#* } .)
jar=${jar##*/}
options=
if [ "$2" = sqlite ]; then
    # Its library stays here; left alone, the driver writes a copy into the folder for temporary files at each start.
    native=org/sqlite/native/Linux/$(uname -m)
    jar xf "$jar" "$native/libsqlitejdbc.so"
    options="--enable-native-access=ALL-UNNAMED -Dorg.sqlite.lib.path=\$here/$native -Dorg.sqlite.lib.name=libsqlitejdbc.so"
fi
javac --release 17 -Xlint:all,-classfile -Werror -d . "$1"/../java/kit/*.java "$1"/sql/*.java
# Left alone, collector and heap follow the machine: the heap begins with a 64th of its memory, which is touched from end to end before anything is collected.
options="-XX:+UseSerialGC -Xms32m -Xmx512m -Xshare:auto -Dsql.driver=$2 $options"
printf '#!/bin/sh\nhere=${0%%/*}\nexec "%s" %s -cp "$here:$here/%s" sql.Measured\n' "$java" "$options" "$jar" >run
chmod +x run
