#!/bin/sh
# Installs the other implementations for `cargo bench -p antiphon-panda --bench ordered` into target/rivals (or $RIVALS): install.sh [jgroups] [nats]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=${RIVALS:-$here/../../../../target/rivals}
mkdir -p "$place"

jgroups() {
    command -v javac >/dev/null || { echo "JGroups needs javac 17 or later: apt-get install default-jdk-headless" >&2; exit 1; }
    sh "$here/../../../../subjects/layer-jgroups/fetch.sh" "$place"
}

nats() {
    command -v go >/dev/null || { echo "NATS needs Go: apt-get install golang-go" >&2; exit 1; }
    [ -x "$place/nats-server" ] || GOBIN=$(cd "$place" && pwd) go install github.com/nats-io/nats-server/v2@v2.15.2
}

for rival in ${*:-jgroups nats}; do
    case $rival in
        jgroups | nats) $rival ;;
        *) echo "no rival $rival: give jgroups or nats" >&2; exit 2 ;;
    esac
done
