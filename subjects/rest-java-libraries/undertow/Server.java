package rest;

import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** A REST server: GET /api is answered with a greeting, by Undertow: on its I/O threads, or each request on a virtual thread of its own. */
final class Server {
    private static final ByteBuffer GREETING = constant("{\"greeting\":\"Hello World!\"}");

    private Server() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        int port = Integer.parseInt(arguments[1]);
        Undertow.builder()
                .addHttpListener(port, "127.0.0.1")
                .setHandler(Handlers.routing().get("/api", handler(arguments[0])))
                .build()
                .start();
    }

    private static ByteBuffer constant(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    /** Virtual threads are asked for by name, so that this file is compiled for releases without them, too. */
    private static HttpHandler handler(String threads) throws ReflectiveOperationException {
        if (threads.equals("virtual")) {
            var each = (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            HttpHandler answer = Server::answer;
            return exchange -> exchange.dispatch(each, answer);
        }
        return Server::answer;
    }

    private static void answer(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender().send(GREETING.duplicate());
    }
}
