# Builds the subject in the current folder: `build.sh SOURCE OPTION…`. Leaves `run`, which starts the leader with the newest Java and these options.
set -e
source=$1
shift
options=$*
java=$(sh "$source/../models-java/find-java.sh")
jar=$(sh "$source/fetch.sh" .)
javac --release 17 -Xlint:all,-classfile -Werror -cp "$jar" -d . "$source"/../java/kit/*.java "$source"/layer/*.java
printf '#!/bin/sh\nhere=${0%%/*}\nexec "%s" -XX:+UseSerialGC -Xshare:auto -Xmx512m %s -cp "$here:$here/%s" layer.Layer\n' "$java" "$options" "${jar##*/}" >run
chmod +x run
