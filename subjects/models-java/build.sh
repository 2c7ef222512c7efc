# Builds the programs in the current folder: `build.sh SOURCE platform|virtual`. Leaves `run`, which starts a program with the newest Java.
set -e
java=$(sh "$1/find-java.sh")
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
if [ "$2" = virtual ] && [ "$version" -lt 21 ]; then
    echo "virtual threads need Java 21 or later, and the newest here is $version ($java): install one, or set JAVA_HOME" >&2
    exit 1
fi
javac --release 17 -Xlint:all -Werror -d . "$1"/models/*.java
printf '#!/bin/sh\nexec "%s" -XX:+UseSerialGC -Xshare:auto -cp "${0%%/*}" models.Models %s "$@"\n' "$java" "$2" >run
chmod +x run
