// The counter: every task adds one as often as it can.
#ifndef COUNTER_HPP
#define COUNTER_HPP

#include "team.hpp"

#include <iostream>
#include <memory>
#include <mutex>

// Volatile, so that every increment is one of memory; that alone makes none of them indivisible.
struct alignas(128) unprotected {
    volatile std::uint64_t value = 0;
    void increment() { value = value + 1; }
};

struct alignas(128) indivisible {
    std::atomic<std::uint64_t> value = 0;
    void increment() { ++value; }
};

struct alignas(128) locked {
    std::mutex mutex;
    std::uint64_t value = 0;
    void increment()
    {
        const std::lock_guard held(mutex);
        ++value;
    }
};

template <typename Counter> void count(const std::string &way, const std::vector<unsigned> &argument)
{
    // On the heap in all languages but Python: what is reached by a register processors may keep at hand, and add to it several times as fast as to
    // what has a fixed place in the program (docs/explanation/shared-data.md).
    const auto shared = std::make_unique<Counter>();
    const outcome done = run_tasks(argument[0], argument[1], [&shared](task &mine) {
        Counter &counter = *shared;
        while (!time_is_up.load(std::memory_order_relaxed)) {
            for (int i = 0; i < operations_a_look; i++)
                counter.increment();
            mine.operations += operations_a_look;
        }
    });
    const std::uint64_t kept = shared->value, operations = done.operations();
    if (kept != operations && way != "unsafe")
        throw std::runtime_error(way + " lost increments: " + std::to_string(kept) + " of " + std::to_string(operations) + " are left");
    std::cout << "counter, tasks " << argument[0] << "\n@@ run elapsed_ns=" << done.elapsed.count() << " operations=" << operations
              << " kept=" << kept << '\n';
}

inline void run_counter(const std::string &way, const std::vector<unsigned> &argument)
{
    if (way == "unsafe")
        count<unprotected>(way, argument);
    else if (way == "atomic")
        count<indivisible>(way, argument);
    else if (way == "locked")
        count<locked>(way, argument);
    else
        throw unknown("counter_" + way);
}

#endif
