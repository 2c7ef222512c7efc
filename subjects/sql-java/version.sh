# The newest Java and the drivers that the file `drivers` names, in one line; then all that it tells of itself, and where it is.
java=$(sh "${0%/*}/../models-java/find-java.sh") || exit
told=$("$java" -version 2>&1)
drivers=$(while read -r _ _ name version _; do printf ', %s %s' "$name" "$version"; done <"${0%/*}/drivers")
echo "$(echo "$told" | head -1)$drivers"
echo "$told"
echo "$java"
