# Builds the programs in the current folder: `build.sh SOURCE`. Leaves `run`, which starts a program with the newest Java.
set -e
java=$(sh "$1/../models-java/find-java.sh")
javac --release 17 -Xlint:all -Werror -d . "$1"/shared/*.java
printf '#!/bin/sh\nexec "%s" -XX:+UseSerialGC -Xshare:auto -cp "${0%%/*}" shared.Shared "$@"\n' "$java" >run
chmod +x run
