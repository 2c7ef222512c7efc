# Gets libraries of Ada that Debian does not package, and builds them for the subjects that are measured with them:
# `get-libraries.sh PREFIX LIBRARY...`, each `ews`, `aws`, `asf` (which takes the other two with it) or `ado`. They are installed below
# PREFIX; then set GPR_PROJECT_PATH=PREFIX/share/gpr.
#
# The versions are those that were seen to work with GNAT 12 and Debian 12's gnatcoll and xmlada; they are built optimized, which AWS and ADO
# are not unless they are told to. Of AWS what a server needs is built: neither tools nor encryption.
set -e
usage="usage: get-libraries.sh PREFIX ews|aws|asf|ado..."
[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
prefix=$1
shift
for wanted; do
    case $wanted in ews | aws | asf | ado) ;; *) echo "get-libraries.sh: there is no library \`$wanted\`; $usage" >&2; exit 2 ;; esac
done
for command in git make gcc gprbuild gprinstall; do
    command -v "$command" >/dev/null || { echo "get-libraries.sh: \`$command\` is missing: apt install git make gcc gnat gprbuild" >&2; exit 1; }
done
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
export GPR_PROJECT_PATH="$prefix/share/gpr${GPR_PROJECT_PATH:+:$GPR_PROJECT_PATH}"

# Whether gprbuild finds the project file $1.
found() {
    printf 'with "%s";\nabstract project Asked is\nend Asked;\n' "$1" >"$work/asked.gpr"
    gprls -P "$work/asked.gpr" >/dev/null 2>&1
}

# Says which Debian package is missing and ends, unless project file $1 is found.
must_have() {
    found "$1" || { echo "get-libraries.sh: $1.gpr was not found: apt install $2 (Debian 12's name)" >&2; exit 1; }
}

# The sources of tag $2 of https://github.com/$1 in folder $3.
source_of() {
    git -c advice.detachedHead=false clone --quiet --depth 1 --branch "$2" "https://github.com/$1" "$3"
}

# Builds and installs project $1 in folder $2 with the switches that follow. Parts of one library share configurations, which are not
# installed, so that the library's sources in $from come before what is installed.
install_of() {
    echo "get-libraries.sh: $1"
    (
        export GPR_PROJECT_PATH="$from:$GPR_PROJECT_PATH"
        project=$1
        cd "$2"
        shift 2
        gprbuild -q -p -j0 -P "$project.gpr" "$@"
        gprinstall -q -p -f --prefix="$prefix" --build-name=static -P "$project.gpr" "$@"
    )
}

ews() {
    must_have xmlada libxmlada-schema12-dev
    source_of simonjwright/ews Rel_20220730 "$work/ews"
    from=$work/ews
    install_of ews "$from" -XLIBRARY_TYPE=static
}

aws() {
    must_have gnatcoll libgnatcoll21-dev
    source_of AdaCore/aws v23.0.0 "$work/aws"
    rmdir "$work/aws/templates_parser" 2>/dev/null || true
    source_of AdaCore/templates-parser v23.0.0 "$work/aws/templates_parser"
    echo "get-libraries.sh: aws"
    cd "$work/aws"
    options="SOCKET=std XMLADA=false LAL=false LDAP=false DEBUG=false ENABLE_SHARED=false prefix=$prefix"
    make --quiet setup $options >log 2>&1 && make --quiet build-lib-native install-lib-native $options >>log 2>&1 || { tail -n 20 log >&2; exit 1; }
}

# What the libraries of Ada Server Faces' author stand on.
util() {
    must_have xmlada libxmlada-schema12-dev
    [ -d "$work/util" ] || source_of stcarrez/ada-util 2.8.2 "$work/util"
    from=$work/util
    for part in core base sys; do
        install_of "utilada_$part" "$from" -XUTIL_BUILD=distrib
    done
    install_of utilada_xml "$from/xml" -XUTIL_BUILD=distrib
}

asf() {
    util
    for part in el:1.8.7 security:1.5.1 servlet:1.8.1; do
        source_of "stcarrez/ada-${part%:*}" "${part#*:}" "$work/${part%:*}"
    done
    install_of utilada_aws "$from/aws" -XUTIL_BUILD=distrib
    from=$work/el
    install_of elada "$from" -XEL_BUILD=distrib
    from=$work/security
    install_of security "$from" -XSECURITY_BUILD=distrib
    from=$work/servlet
    install_of servletada "$from" -XSERVLET_BUILD=distrib
    install_of servletada_aws "$from/aws" -XSERVLET_BUILD=distrib
    install_of servletada_ews "$from/ews" -XSERVLET_BUILD=distrib
}

# Ada Database Objects: over SQLite (as it is, not SQLCipher), PostgreSQL and MariaDB, whose own libraries programs are linked with.
ado() {
    source_of stcarrez/ada-ado 2.5.0 "$work/ado"
    from=$work/ado
    install_of ado "$from" -XADO_BUILD=distrib
    install_of ado_sqlite "$from/sqlite" -XADO_BUILD=distrib -XADO_USE_SQLCIPHER=no
    install_of ado_postgresql "$from/postgresql" -XADO_BUILD=distrib
    (cd "$from/mysql" && sh ./alire-setup.sh)
    install_of ado_mysql "$from/mysql" -XADO_BUILD=distrib
}

for wanted; do
    case $wanted in
        asf)
            found ews || (ews)
            found aws || (aws)
            ;;
        ado) found utilada_xml || (util) ;;
    esac
    ("$wanted")
done
echo "get-libraries.sh: now export GPR_PROJECT_PATH=$prefix/share/gpr"
