# Builds the server of a library in the current folder: `build.sh SOURCE LIBRARY`. The library, of the version in its pom.xml, comes from Maven
# Central once. Leaves `run`, which starts the server with the newest Java.
set -e
java=$(sh "$1/find-java.sh")
mvn --batch-mode --quiet --file "$1/$2/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$PWD/lib"
javac --release 17 -cp 'lib/*' -d . "$1/$2/Server.java"
printf '#!/bin/sh\nexec "%s" -cp "${0%%/*}:${0%%/*}/lib/*" rest.Server "$@"\n' "$java" >run
chmod +x run
