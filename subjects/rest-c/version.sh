# The compiler, and the library that it finds, in one line.
library=$(printf '#include <event2/event-config.h>\nEVENT__VERSION\n' | cc -E -P - | tail -1 | tr -d '"')
echo "$(cc --version | head -1), libevent $library"
