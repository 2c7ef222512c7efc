// The kit of C as a C++ program uses it: what a test prepares is an object of a class, and exceptions are its failures.
//
//     struct lock {
//         explicit lock(std::uint64_t) {}
//         std::uint64_t control(std::uint64_t iterations);
//         std::uint64_t test(std::uint64_t iterations);
//         std::mutex mutex;
//     };
//
//     static const kit_test table[] = {kit::frame<lock>({.name = "lock.free"}), kit::end};
//     const kit_test *const kit_tables[] = {table, nullptr};
//
// The object is made with the argument (0 if the test takes none) before the warm-up and destroyed after the last slice. If the class has a
// member `reset`, it is called, untimed, after each slice. Loops count with kit::increment, whose end no compiler sees.
#ifndef KIT_HPP
#define KIT_HPP

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kit.h"

namespace kit {

inline std::uint64_t now() { return kit_now(); }

// The hidden increment, in a register.
inline std::uint64_t increment(std::uint64_t index)
{
    ++index;
    __asm__ volatile("" : "+r"(index));
    return index;
}

inline void takes_part(const char *role) { kit_thread_takes_part(role); }

// Ends the table of a unit.
inline constexpr kit_test end{};

// --- What the kit of C calls -------------------------------------------------------------------------------------------

// Runs work of a test. The kit of C jumps out of it where it fails, which no destructor may be passed by: so an exception is caught, ends
// with its block, and only its text goes on.
template <typename Work> auto attempted(Work work) -> decltype(work())
{
    static std::array<char, 400> text;
    try {
        return work();
    } catch (const std::exception &error) {
        std::snprintf(text.data(), text.size(), "%s", error.what());
    } catch (...) {
        std::snprintf(text.data(), text.size(), "an exception that is no std::exception");
    }
    kit_fail("%s", text.data());
}

template <typename T> std::optional<T> prepared;

template <typename T> void prepare(std::uint64_t argument)
{
    attempted([argument] { prepared<T>.emplace(argument); });
}

template <typename T> void finish() { prepared<T>.reset(); }

template <typename T> void reset() { prepared<T>->reset(); }

template <typename T> std::uint64_t control(std::uint64_t iterations)
{
    return attempted([iterations] { return prepared<T>->control(iterations); });
}

template <typename T> std::uint64_t test(std::uint64_t iterations)
{
    return attempted([iterations] { return prepared<T>->test(iterations); });
}

template <typename T> void operate(kit_sample *sample)
{
    *sample = attempted([] { return prepared<T>->operate(); });
}

template <typename T> bool turn(std::uint64_t index)
{
    return attempted([index] {
        try {
            prepared<T>->turn(index);
            return true;
        } catch (const std::bad_alloc &) {
            return false;
        }
    });
}

// --- Rows of a table: what `list` says is given, the rest is filled in --------------------------------------------------

template <typename T> kit_test row(kit_test given, kit_kind kind)
{
    given.kind = kind;
    given.prepare = prepare<T>;
    given.finish = finish<T>;
    return given;
}

template <typename T> kit_test frame(kit_test given)
{
    given.control = control<T>;
    given.test = test<T>;
    if constexpr (requires(T object) { object.reset(); })
        given.reset = reset<T>;
    return row<T>(given, KIT_FRAME);
}

// `operate` gives a kit_sample.
template <typename T> kit_test latency(kit_test given)
{
    given.operate = operate<T>;
    return row<T>(given, KIT_LATENCY);
}

// `turn` throws std::bad_alloc where storage is refused.
template <typename T> kit_test series(kit_test given)
{
    given.turn = turn<T>;
    return row<T>(given, KIT_SERIES);
}

// --- Threads -----------------------------------------------------------------------------------------------------------

// A partner thread that runs a function of no arguments where the placement wants it, and is joined at the end of its life.
class partner {
public:
    template <typename Body> explicit partner(Body body)
    {
        auto owned = std::make_unique<std::function<void()>>(std::move(body));
        const int error = pthread_create(&thread_, kit_partner_attributes(), run, owned.get());
        if (error != 0)
            throw std::runtime_error("a partner thread could not be started");
        static_cast<void>(owned.release()); // the thread has it now
        running_ = true;
    }
    partner(const partner &) = delete;
    partner &operator=(const partner &) = delete;
    ~partner() { join(); }

    void join()
    {
        if (std::exchange(running_, false))
            pthread_join(thread_, nullptr);
    }

private:
    static void *run(void *owned)
    {
        const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()> *>(owned));
        (*body)();
        return nullptr;
    }

    pthread_t thread_{};
    bool running_ = false;
};

} // namespace kit

#endif
