# Whether a program holds the SQLite that its variant is recorded with: `brings.sh PROGRAM WORD...`, of which one may be `library=VERSION`.
program=$1
for word; do
    case $word in library=*) ;; *) continue ;; esac
    LC_ALL=C grep -aqF "${word#*=}" "$program" || {
        echo "the driver does not bring SQLite ${word#*=}: say in subject.toml which it brings" >&2
        exit 1
    }
done
