# Builds the program in the current folder: `build.sh SOURCE`. Leaves `run`, which starts it with the newest Java.
set -e
java=$(sh "$1/../models-java/find-java.sh")
javac --release 17 -Xlint:all -Werror -d . "$1"/kit/*.java "$1"/examined/*.java
printf '#!/bin/sh\nexec "%s" -XX:+UseSerialGC -Xshare:auto -cp "${0%%/*}" examined.Examined\n' "$java" >run
chmod +x run
