// shared PROGRAM ARGUMENT...: tasks over data that they share, protected in several ways (docs/explanation/shared-data.md).
#include "cache.hpp"
#include "counter.hpp"

#include <charconv>
#include <string_view>

namespace {

struct limits {
    unsigned least, most;
};

struct program {
    std::string_view prefix;
    void (*run)(const std::string &way, const std::vector<unsigned> &argument);
    std::string usage;
    std::vector<limits> arguments;
};

const program programs[] = {
    {"counter_", run_counter, "TASKS MS", {{1, 64}, {1, 60000}}},
    {"cache_", run_cache, "TASKS WRITES_PER_MILLE MS", {{1, 64}, {0, 1000}, {1, 60000}}},
    {"starve_", run_starve, "READERS MS", {{1, 63}, {1, 60000}}},
};

unsigned parse(const std::string &word, limits within)
{
    unsigned value = 0;
    const char *end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || stopped != end || value < within.least || value > within.most)
        throw std::runtime_error("`" + word + "` must be a number from " + std::to_string(within.least) + " to " +
                                 std::to_string(within.most));
    return value;
}

void run(const std::vector<std::string> &words)
{
    const std::string name = words.empty() ? "" : words[0];
    for (const program &known : programs) {
        if (!name.starts_with(known.prefix))
            continue;
        if (words.size() != known.arguments.size() + 1)
            throw std::runtime_error("write: " + name + " " + known.usage);
        std::vector<unsigned> arguments;
        for (std::size_t i = 0; i < known.arguments.size(); i++)
            arguments.push_back(parse(words[i + 1], known.arguments[i]));
        known.run(name.substr(known.prefix.size()), arguments);
        return;
    }
    throw unknown(name);
}

} // namespace

int main(int count, char *words[])
{
    try {
        run(std::vector<std::string>(words + 1, words + count));
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
