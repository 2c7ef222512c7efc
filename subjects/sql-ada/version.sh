# The compiler, and the libraries of the databases, in one line. GNATCOLL's do not tell their version; of ADO's, where they are found, the project
# file does.
ado=$(gprls -v 2>/dev/null | sed -n 's|^ *\(/.*\)|\1/ado.gpr|p' | while read -r project; do
    [ -f "$project" ] && sed -n 's/^ *version *:= *"\(.*\)";/, ADO \1/p' "$project" && break
done)
echo "$(gnatmake --version | head -1)$(sh "${0%/*}/../sql-c/libraries.sh")$ado"
