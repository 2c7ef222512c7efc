// Tasks that start at a barrier and work until time is up.
#ifndef TEAM_HPP
#define TEAM_HPP

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// Between two looks at whether time is up a task does so many operations.
inline constexpr int operations_a_look = 64;

inline std::atomic<bool> time_is_up = false;

// What a task did. Lines of the processor's cache keep tasks apart.
struct alignas(128) task {
    unsigned number = 0;
    std::uint64_t operations = 0;
    std::uint64_t updates = 0;
    nanoseconds longest_wait{0};
    std::uint64_t random = 0;

    // A pseudo-random number below 1000 (xorshift), by which operations become reads or writes.
    unsigned permille()
    {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return static_cast<unsigned>((random >> 32) * 1000 >> 32);
    }
};

struct outcome {
    std::vector<task> tasks;
    nanoseconds elapsed; // from just before the start until time was up

    std::uint64_t operations() const { return sum(&task::operations); }
    std::uint64_t updates() const { return sum(&task::updates); }

private:
    std::uint64_t sum(std::uint64_t task::*of) const
    {
        std::uint64_t sum = 0;
        for (const task &one : tasks)
            sum += one.*of;
        return sum;
    }
};

// Processor time of all tasks so far.
inline nanoseconds processor_time()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

template <typename Work> outcome run_tasks(unsigned count, unsigned time_ms, Work work)
{
    outcome done{std::vector<task>(count), {}};
    std::latch ready(count), start(1);
    nanoseconds used{};
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < count; i++) {
            task &mine = done.tasks[i];
            mine.number = i;
            mine.random = 88172645463325252u + i * 0x9E3779B97F4A7C15u;
            threads.emplace_back([&ready, &start, &work, &mine] {
                ready.count_down();
                start.wait();
                work(mine);
            });
        }
        ready.wait();
        // Before the start: after it tasks work already, while this thread may have to wait for a processor.
        const auto began = clock_type::now();
        used = processor_time();
        start.count_down();
        std::this_thread::sleep_for(std::chrono::milliseconds(time_ms));
        done.elapsed = clock_type::now() - began; // what a task does after this is less than one look's
        time_is_up = true;
    }
    std::cout << "@@ run cpu_ns=" << (processor_time() - used).count() << '\n';
    return done;
}

inline std::runtime_error unknown(const std::string &program) { return std::runtime_error("there is no program `" + program + "`"); }

#endif
