// One test of each kind that the kit serves: what C++'s own means to synchronize and to take storage cost.
#include "kit.hpp"

#include <mutex>
#include <stdexcept>
#include <vector>

namespace {

// A lock that nobody else wants.
class lock {
public:
    explicit lock(std::uint64_t) {}

    std::uint64_t control(std::uint64_t iterations)
    {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < iterations; i = kit::increment(i))
            sum += i;
        return sum;
    }

    std::uint64_t test(std::uint64_t iterations)
    {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < iterations; i = kit::increment(i)) {
            const std::lock_guard held(mutex_);
            sum += i;
        }
        return sum;
    }

private:
    std::mutex mutex_;
};

// From before a thread is started to its first statement.
struct start {
    explicit start(std::uint64_t) {}

    kit_sample operate()
    {
        kit_sample sample{};
        sample.actual_ns = kit::now();
        kit::partner([&sample] {
            sample.ended_ns = kit::now();
            kit::takes_part("partner");
        });
        return sample;
    }
};

// Storage that is taken and kept until the series ends.
class storage {
public:
    explicit storage(std::uint64_t bytes) : bytes_(bytes) {}

    void turn(std::uint64_t index) { kept_.emplace_back(bytes_, static_cast<char>(index)); }

private:
    std::uint64_t bytes_;
    std::vector<std::vector<char>> kept_;
};

const kit_test tests[] = {
    kit::frame<lock>({.name = "lock.free"}),
    kit::latency<start>({.name = "thread.start", .threads = 2}),
    kit::series<storage>({.name = "storage.kept", .arg_unit = "bytes"}),
    kit::end,
};

} // namespace

extern "C" const kit_test *const kit_tables[] = {tests, nullptr};
