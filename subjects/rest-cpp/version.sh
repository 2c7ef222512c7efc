# The compiler, and the library that it finds, in one line.
library=$(printf '#include <boost/version.hpp>\nBOOST_LIB_VERSION\n' | c++ -E -P -x c++ - | tail -1 | tr -d '"' | tr _ .)
echo "$(c++ --version | head -1), Boost $library"
