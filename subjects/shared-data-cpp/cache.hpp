// The cache: tasks look words up, and now and then one of them adds to the count of a word.
#ifndef CACHE_HPP
#define CACHE_HPP

#include "team.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

inline constexpr unsigned keys = 128;

using map = std::unordered_map<std::string, std::uint64_t>;

inline std::vector<std::string> all_words()
{
    std::vector<std::string> words;
    for (unsigned i = 0; i < keys; i++)
        words.push_back("key " + std::to_string(i));
    return words;
}

inline map first_map()
{
    map first;
    for (const std::string &word : all_words())
        first[word] = 0;
    return first;
}

inline std::uint64_t sum_of(const map &counts)
{
    std::uint64_t sum = 0;
    for (const auto &[word, value] : counts)
        sum += value;
    return sum;
}

// A map behind a mutex, or a readers-writer lock: `Reading` is how a reader holds it.
template <typename Mutex, template <typename> typename Reading> class behind {
public:
    std::uint64_t read(const std::string &key)
    {
        const Reading<Mutex> held(mutex_);
        return map_.at(key);
    }
    void write(const std::string &key)
    {
        const std::lock_guard held(mutex_);
        ++map_.at(key);
    }
    std::uint64_t sum() const { return sum_of(map_); }

private:
    Mutex mutex_;
    map map_ = first_map();
};

// A map that is never changed, only replaced. Of two writers that copy at once the later one wins, and the update of the other is lost.
class weak {
public:
    std::uint64_t read(const std::string &key) { return published_.load()->at(key); }
    void write(const std::string &key)
    {
        auto copy = std::make_shared<map>(*published_.load());
        ++copy->at(key);
        published_.store(std::move(copy));
    }
    std::uint64_t sum() const { return sum_of(*published_.load()); }

private:
    std::atomic<std::shared_ptr<const map>> published_ = std::make_shared<const map>(first_map());
};

// Its writers take turns, so that every update is in the next copy.
class copied : public weak {
public:
    void write(const std::string &key)
    {
        const std::lock_guard turn(mutex_);
        weak::write(key);
    }

private:
    std::mutex mutex_;
};

using exclusive = behind<std::mutex, std::lock_guard>;
using readers_writer = behind<std::shared_mutex, std::shared_lock>;

// Makes the compiler believe that the value is used.
inline void keep(std::uint64_t value) { __asm__ volatile("" : : "r"(value)); }

// --- reads with some writes ------------------------------------------------------------------------------------------------

template <typename Cache> void read_and_write(const std::string &way, const std::vector<unsigned> &argument)
{
    Cache cache;
    const std::vector<std::string> words = all_words();
    const unsigned writes = argument[1];
    const outcome done = run_tasks(argument[0], argument[2], [&](task &mine) {
        for (unsigned key = mine.number; !time_is_up.load(std::memory_order_relaxed);) {
            for (int i = 0; i < operations_a_look; i++) {
                key = (key + 7) % keys;
                if (mine.permille() < writes) {
                    cache.write(words[key]);
                    mine.updates++;
                } else {
                    keep(cache.read(words[key]));
                }
            }
            mine.operations += operations_a_look;
        }
    });
    const std::uint64_t kept = cache.sum(), updates = done.updates();
    if (kept != updates && way != "weak")
        throw std::runtime_error(way + " lost updates: " + std::to_string(kept) + " of " + std::to_string(updates) + " are left");
    std::cout << "cache, tasks " << argument[0] << ", writes " << writes << "\n@@ run elapsed_ns=" << done.elapsed.count()
              << " operations=" << done.operations() << " updates=" << updates << " kept=" << kept << '\n';
}

inline void run_cache(const std::string &way, const std::vector<unsigned> &argument)
{
    if (way == "lock")
        read_and_write<exclusive>(way, argument);
    else if (way == "rwlock")
        read_and_write<readers_writer>(way, argument);
    else if (way == "copy")
        read_and_write<copied>(way, argument);
    else if (way == "weak")
        read_and_write<weak>(way, argument);
    else
        throw unknown("cache_" + way);
}

// --- a writer among readers ------------------------------------------------------------------------------------------------

// The last task writes, each time as soon as it may; the others read without a pause.
template <typename Cache> void read_or_write(const std::vector<unsigned> &argument)
{
    Cache cache;
    const std::vector<std::string> words = all_words();
    const unsigned writer = argument[0];
    const outcome done = run_tasks(writer + 1, argument[1], [&](task &mine) {
        const bool writes = mine.number == writer;
        // A writer goes on until it has written once, whenever that is.
        for (unsigned key = mine.number; !time_is_up.load(std::memory_order_relaxed) || (writes && mine.updates == 0);
             key = (key + 7) % keys) {
            if (!writes) {
                keep(cache.read(words[key]));
                mine.operations++;
                continue;
            }
            const auto began = clock_type::now();
            cache.write(words[key]);
            mine.longest_wait = std::max<nanoseconds>(mine.longest_wait, clock_type::now() - began);
            mine.updates++;
            std::this_thread::yield();
        }
    });
    const task &wrote = done.tasks[writer];
    std::cout << "one writer, readers " << writer << "\n@@ run elapsed_ns=" << done.elapsed.count()
              << " whole_ns=" << done.elapsed.count() << " operations=" << done.operations() << " updates=" << wrote.updates
              << " longest_wait_ns=" << wrote.longest_wait.count() << '\n';
}

inline void run_starve(const std::string &way, const std::vector<unsigned> &argument)
{
    if (way == "lock")
        read_or_write<exclusive>(argument);
    else if (way == "rwlock")
        read_or_write<readers_writer>(argument);
    else if (way == "copy")
        read_or_write<copied>(argument);
    else
        throw unknown("starve_" + way);
}

#endif
