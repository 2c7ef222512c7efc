#!/bin/sh
# Brings a library into a folder, from Maven's own store on this machine or from Maven Central: fetch.sh GROUP ARTIFACT VERSION SHA-256 FOLDER.
# Prints the jar's path.
set -eu
name=$2-$3.jar
path=$(echo "$1" | tr . /)/$2/$3/$name
hash=$4
stored=${HOME:-/nowhere}/.m2/repository/$path
jar=$5/$name

is_right() { echo "$hash  $1" | sha256sum -c --status 2>/dev/null; }

if [ ! -f "$jar" ]; then
    if [ -f "$stored" ]; then
        cp "$stored" "$jar.part"
    elif ! curl -fsSL --retry 3 --connect-timeout 10 --max-time 120 -o "$jar.part" "https://repo1.maven.org/maven2/$path"; then
        echo "$name did not come from Maven Central: connect this machine, or put the jar at $stored" >&2
        exit 1
    fi
    if ! is_right "$jar.part"; then
        rm "$jar.part"
        echo "what came as $name is another file than the one of SHA-256 $hash: remove $stored if it is there, and try again" >&2
        exit 1
    fi
    mv "$jar.part" "$jar"
fi
echo "$jar"
