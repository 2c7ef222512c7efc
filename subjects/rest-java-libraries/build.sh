# Builds the server of a library in the current folder: `build.sh SOURCE LIBRARY platform|virtual`. The library, of the version in its pom.xml, comes from Maven
# Central once. Leaves `run`, which starts the server with the newest Java.
set -e
java=$(sh "$1/find-java.sh")
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
if [ "$3" = virtual ] && [ "$version" -lt 21 ]; then
    echo "virtual threads need Java 21 or later, and the newest here is $version ($java): install one, or set JAVA_HOME" >&2
    exit 1
fi
mvn --batch-mode --quiet --file "$1/$2/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$PWD/lib"
javac --release 17 -cp 'lib/*' -d . "$1/$2"/*.java
# Left alone, collector and heap follow the machine: the heap begins with a 64th of its memory, which is touched from end to end before anything is collected.
printf '#!/bin/sh\nexec "%s" -XX:+UseSerialGC -Xms32m -Xmx512m -cp "${0%%/*}:${0%%/*}/lib/*" rest.Server %s "$@"\n' "$java" "$3" >run
chmod +x run
