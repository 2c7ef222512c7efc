# Prints the version of the original's compiler: `version.sh SR`.
version=$("$1" -v 2>&1) || true
case $version in
*"SR version "*) echo "$version" ;;
*)
    echo "$1 is not the compiler of the original SR: \`$1 -v\` names no SR version. Give the folder of SR 2.3.3 by --with-sr." >&2
    exit 1
    ;;
esac
