# Lays the program out in the current folder: `build.sh SOURCE DRIVER`, by the name of the driver's file here. The drivers come from npm's registry, at
# the versions and hashes of package-lock.json, but for Node's own. better-sqlite3 is compiled here, with the headers that stand beside Node, or those that
# node-gyp brings.
set -e
cp -R "$1/../javascript/kit" "$1"/*.mjs "$1/package.json" "$1/package-lock.json" .
echo "export * from \"./$2.mjs\";" >driver.mjs
[ "$2" = sqlite-node ] && exit
npm ci --silent --omit=peer --ignore-scripts --no-audit --no-fund || {
    echo "the drivers did not come from npm's registry: connect this machine; \`npm ci --dry-run\` in $1 says more" >&2
    exit 1
}
if [ "$2" = sqlite ]; then
    prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
    set --
    [ -f "$prefix/include/node/node.h" ] && set -- "--nodedir=$prefix"
    (cd node_modules/better-sqlite3 && npm run --silent build-release -- --silent "$@")
    rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/build/Release/obj*
fi
