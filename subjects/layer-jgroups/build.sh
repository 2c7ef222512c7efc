# Builds the subject in the current folder: `build.sh SOURCE`. Leaves `run`, which starts the leader with the newest Java.
set -e
java=$(sh "$1/../models-java/find-java.sh")
jar=$(sh "$1/fetch.sh" .)
javac --release 17 -Xlint:all,-classfile -Werror -cp "$jar" -d . "$1"/../java/kit/*.java "$1"/layer/*.java
printf '#!/bin/sh\nhere=${0%%/*}\nexec "%s" -XX:+UseSerialGC -Xshare:auto -Xmx512m -cp "$here:$here/%s" layer.Layer\n' "$java" "${jar##*/}" >run
chmod +x run
