# Builds the server in the current folder: `build.sh SOURCE platform|virtual`. Leaves `run`, which starts it with the newest Java.
set -e
java=$(sh "$1/find-java.sh")
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
if [ "$2" = virtual ] && [ "$version" -lt 21 ]; then
    echo "virtual threads need Java 21 or later, and the newest here is $version ($java): install one, or set JAVA_HOME" >&2
    exit 1
fi
javac --release 17 -Xlint:all -Werror -d . "$1"/rest/*.java
# Without TCP_NODELAY this server's answers wait 40 ms for the client's acknowledgement. Of idle connections it closes those above 200 by default.
# Left alone, collector and heap follow the machine: the heap begins with a 64th of its memory, which is touched from end to end before anything is collected.
printf '#!/bin/sh\nexec "%s" -XX:+UseSerialGC -Xms32m -Xmx512m -Dsun.net.httpserver.nodelay=true -Dsun.net.httpserver.maxIdleConnections=2000 -cp "${0%%/*}" rest.Server %s "$@"\n' "$java" "$2" >run
chmod +x run
