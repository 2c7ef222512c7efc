#!/bin/sh
# Fills fuzz/corpus with seeds from the tests. `panda_frames` makes genuine frames by itself.
set -eu
cd "$(dirname "$0")"
crates=../crates

# Copies files into a target's corpus; their names have their folders, so that none meets another.
seed() {
  target=$1
  shift
  mkdir -p "corpus/$target"
  for file; do
    cp "$file" "corpus/$target/$(echo "$file" | tr -s './' '--')"
  done
}

seed sr_source $(find "$crates"/sr/tests "$crates"/*/examples ../subjects -name '*.sr')
seed orca_source $(find "$crates"/orca-lang/standard -name '*.imp')
seed ada_source $(find "$crates"/ada/tests ../subjects -name '*.ad[bs]')
seed suite_toml ../suites/*.toml

# The lines of the protocol's tests, all in one file and each in its own.
mkdir -p corpus/subject_protocol
grep -rhoE '"@@ [^"]*"' "$crates"/lab/tests "$crates"/lab/src "$crates"/lab/test-subject |
  tr -d '"' | sort -u >corpus/subject_protocol/all
split -l 1 -a 3 corpus/subject_protocol/all corpus/subject_protocol/line-

# The answers of the reader's tests: the connection ends after one in two, and the first piece of
# each is 20 bytes.
mkdir -p corpus/http_answer
grep -hoE '"HTTP/1[^"]*"' "$crates"/load/src/response.rs | tr -d '"' | sort -u | {
  count=0
  while IFS= read -r answer; do
    count=$((count + 1))
    printf "%b" "\\000$((count % 2))\\0024\\0000$answer" >"corpus/http_answer/answer-$count"
  done
}
