# Builds the server in the current folder: `build.sh SOURCE CLASS`. Its libraries, of the versions in pom.xml, come from Maven Central once.
# Leaves `run`, which starts it with the newest Java.
set -e
java=$(sh "$1/find-java.sh")
mvn --batch-mode --quiet --file "$1/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$PWD/lib"
javac --release 17 -cp 'lib/*' -d . "$1"/rest/*.java
printf '#!/bin/sh\nexec "%s" -cp "${0%%/*}:${0%%/*}/lib/*" rest.%s "$@"\n' "$java" "$2" >run
chmod +x run
