#!/bin/sh
# Brings JGroups into a folder: fetch.sh FOLDER. Prints the jar's path.
set -eu
version=5.5.4.Final
hash=d8d2856689d92863c4c557f6917e876b88cc5542fc9888be597926be4171d126
exec sh "$(dirname "$0")/../java/fetch.sh" org.jgroups jgroups $version $hash "$1"
