# Builds the programs in the current folder: `build.sh SOURCE`. Leaves `run`, which starts a program with the newest Java.
set -e
java=$(sh "$1/../models-java/find-java.sh")
javac --release 17 -Xlint:all -Werror -d . "$1"/shared/*.java
# -EliminateLocks: the compiler would take a lock once for several increments that follow one another, and no other language's does.
printf '#!/bin/sh\nexec "%s" -XX:+UseSerialGC -XX:-EliminateLocks -Xshare:auto -cp "${0%%/*}" shared.Shared "$@"\n' "$java" >run
chmod +x run
