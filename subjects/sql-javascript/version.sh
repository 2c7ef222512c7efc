# Node, and the drivers that package.json names, in one line.
drivers=$(sed -n 's/^    "\(better-sqlite3\|mariadb\|pg\)": "\(.*\)"/, \1 \2/p' "${0%/*}/package.json" | tr -d ',\n' | sed 's/ \([a-z]\)/, \1/g')
echo "Node $(node --version)$drivers"
