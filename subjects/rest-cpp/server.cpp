// A REST server by Boost.Beast: GET /api is answered with a greeting.
#include <utility> // the coroutines of Boost 1.74 need it, and do not say so

#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using error_code = boost::system::error_code;

namespace {

constexpr std::string_view greeting = R"({"greeting":"Hello World!"})";

using text_request = http::request<http::string_body>;
using text_response = http::response<http::string_body>;

// When an answer was made (RFC 9110, 6.6.1). The text changes once a second, and is not written anew for each of a thousand answers.
const std::string &date()
{
    thread_local std::time_t written_for = -1;
    thread_local std::string text;
    const std::time_t now = std::time(nullptr);
    if (now != written_for) {
        std::tm parts{};
        gmtime_r(&now, &parts);
        char written[sizeof "Thu, 01 Jan 1970 00:00:00 GMT"];
        text.assign(written, std::strftime(written, sizeof written, "%a, %d %b %Y %H:%M:%S GMT", &parts));
        written_for = now;
    }
    return text;
}

text_response answer(const text_request &request)
{
    const bool is_api = request.method() == http::verb::get && request.target() == "/api";
    text_response response{is_api ? http::status::ok : http::status::not_found, request.version()};
    response.set(http::field::date, date());
    response.keep_alive(request.keep_alive());
    if (is_api) {
        response.set(http::field::content_type, "application/json");
        response.body() = greeting;
    }
    response.prepare_payload();
    return response;
}

net::awaitable<void> serve(tcp::socket socket)
{
    error_code error;
    // One that cannot be told to send at once is slower, not wrong.
    socket.set_option(tcp::no_delay(true), error);
    beast::flat_buffer buffer;
    for (;;) {
        text_request request;
        co_await http::async_read(socket, buffer, request, net::redirect_error(net::use_awaitable, error));
        // A client that breaks off, or sends what is no request, is no fault of the server's.
        if (error)
            break;
        text_response response = answer(request);
        co_await http::async_write(socket, response, net::redirect_error(net::use_awaitable, error));
        if (error || response.need_eof())
            break;
    }
    socket.shutdown(tcp::socket::shutdown_send, error);
}

net::awaitable<void> listen(tcp::acceptor acceptor)
{
    const auto executor = co_await net::this_coro::executor;
    for (;;) {
        error_code error;
        tcp::socket socket = co_await acceptor.async_accept(net::redirect_error(net::use_awaitable, error));
        if (!error) {
            net::co_spawn(executor, serve(std::move(socket)), net::detached);
            continue;
        }
        std::cerr << "a connection was not accepted: " << error.message() << '\n';
        // There may be no files left: it waits for some to be closed.
        net::steady_timer timer(executor, std::chrono::seconds(1));
        co_await timer.async_wait(net::use_awaitable);
    }
}

// `std::thread::hardware_concurrency` tells those of the machine, whether this process may use them or not.
int processors()
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        throw std::system_error(errno, std::generic_category(), "which processors there are");
    return CPU_COUNT(&usable);
}

std::uint16_t parse_port(std::string_view word)
{
    std::uint16_t port = 0;
    const char *end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, port);
    if (error != std::errc() || stopped != end || port == 0)
        throw std::runtime_error("`" + std::string(word) + "` is no port: write a number from 1 to 65535");
    return port;
}

// Lets threads end that run it, also when something is thrown.
struct stopped_at_end {
    net::io_context &context;
    ~stopped_at_end() { context.stop(); }
};

void run(std::uint16_t port)
{
    const int threads = processors();
    net::io_context context{threads};
    const auto rethrow = [](std::exception_ptr why) {
        if (why)
            std::rethrow_exception(why);
    };
    net::co_spawn(context, listen({context, {net::ip::address_v4::loopback(), port}}), rethrow);
    std::vector<std::jthread> others;
    const stopped_at_end stopped{context};
    for (int i = 1; i < threads; i++)
        others.emplace_back([&context] { context.run(); });
    context.run();
}

} // namespace

int main(int count, char *words[])
{
    try {
        if (count != 2)
            throw std::runtime_error("usage: server PORT");
        run(parse_port(words[1]));
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
