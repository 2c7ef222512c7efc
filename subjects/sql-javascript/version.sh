# Node with the SQLite that it may bring, and the drivers that package.json names, in one line.
drivers=$(sed -n '/"dependencies"/,/}/s/^    "\(.*\)": "\(.*\)",*$/, \1 \2/p' "${0%/*}/package.json" | tr -d '\n')
node=$(node -p 'const { sqlite } = process.versions; process.version + (sqlite ? ` with SQLite ${sqlite}` : "")')
echo "Node $node$drivers"
