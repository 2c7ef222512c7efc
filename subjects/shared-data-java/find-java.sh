# Prints the path of the newest Java on this machine: $JAVA_HOME, the one in PATH, and those in /usr/lib/jvm are looked at.
best= newest=0
for java in "$JAVA_HOME/bin/java" "$(command -v java)" /usr/lib/jvm/*/bin/java; do
    [ -x "$java" ] || continue
    version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
    if [ "${version:-0}" -gt "$newest" ]; then
        best=$java newest=$version
    fi
done
if [ -z "$best" ]; then
    echo "no java was found: install a JDK, or set JAVA_HOME" >&2
    exit 1
fi
echo "$best"
