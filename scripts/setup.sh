#!/bin/sh
# Installs what the laboratory needs on Debian and Ubuntu: for each COMMAND=PACKAGE argument, PACKAGE if COMMAND (or
# the file of this path) is missing.
# Without root or sudo it says what to install, and goes on with what is there: subjects that lack something are reported as such.
set -u

missing=
for pair in "$@"; do
    [ -e "${pair%%=*}" ] || command -v "${pair%%=*}" >/dev/null 2>&1 || missing="$missing ${pair#*=}"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    as_root=none
fi

if [ "$as_root" = none ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing packages:$missing" >&2
    echo "Install them with: sudo apt-get install$missing   (or your system's equivalent)" >&2
    echo "Going on with what is there." >&2
    exit 0
fi

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# A failed update may still leave lists that serve; the install decides.
$as_root apt-get update >"$log" 2>&1

can_have() {
    apt-get install --simulate --no-install-recommends "$@" >>"$log" 2>&1
}

# One that this system does not have, or names otherwise, must not keep the others out.
chosen=
unknown=
# shellcheck disable=SC2086 # the lists are meant to be split
if can_have $missing; then
    chosen=$missing
else
    for package in $missing; do
        if can_have "$package"; then chosen="$chosen $package"; else unknown="$unknown $package"; fi
    done
fi
[ -z "$unknown" ] || echo "This system's packages do not include:$unknown. Going on without." >&2
if [ -n "$chosen" ]; then
    echo "Installing:$chosen"
    # shellcheck disable=SC2086
    if ! $as_root apt-get install -y --no-install-recommends $chosen >>"$log" 2>&1; then
        tail -n 15 "$log" >&2
        echo "apt-get could not install:$chosen. Going on with what is there." >&2
    fi
fi
rm -f "$log"
