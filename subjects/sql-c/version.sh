# The compiler, and the libraries of the databases, in one line.
echo "$(cc --version | head -1)$(sh "${0%/*}/libraries.sh")"
