package rest;

import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;

/** A REST server: GET /api is answered with a greeting, by Undertow. */
final class Server {
    private Server() {}

    public static void main(String[] arguments) {
        int port = Integer.parseInt(arguments[0]);
        Undertow.builder()
                .addHttpListener(port, "127.0.0.1")
                .setHandler(Handlers.routing().get("/api", Server::answer))
                .build()
                .start();
    }

    private static void answer(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender().send("{\"greeting\":\"Hello World!\"}");
    }
}
