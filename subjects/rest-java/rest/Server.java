package rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A REST server: GET /api is answered with a greeting, by the JDK's own server. */
final class Server {
    private static final byte[] GREETING = "{\"greeting\":\"Hello World!\"}".getBytes(StandardCharsets.UTF_8);
    private static final int BACKLOG = 1024;
    private static final int THREADS = 64;

    private Server() {}

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[1]));
        HttpServer server = HttpServer.create(address, BACKLOG);
        server.createContext("/api", Server::answer);
        server.setExecutor(executor(arguments[0]));
        server.start();
    }

    /** Virtual threads are asked for by name, so that this file is compiled for releases without them, too. */
    private static ExecutorService executor(String kind) throws ReflectiveOperationException {
        if (kind.equals("virtual")) {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        }
        return Executors.newFixedThreadPool(THREADS);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestMethod().equals("GET")) {
                exchange.sendResponseHeaders(405, -1);
                return;
            }
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, GREETING.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(GREETING);
            }
        }
    }
}
