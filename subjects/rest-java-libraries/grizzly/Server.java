package rest;

import java.io.IOException;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;

/** A REST server: GET /api is answered with a greeting, by Grizzly. */
final class Server {
    private static final String GREETING = "{\"greeting\":\"Hello World!\"}";

    private Server() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        int port = Integer.parseInt(arguments[0]);
        var server = new HttpServer();
        var listener = new NetworkListener("rest", "127.0.0.1", port);
        // By default it closes a connection after 256 requests.
        listener.getKeepAlive().setMaxRequestsCount(-1);
        server.addListener(listener);
        server.getServerConfiguration().addHttpHandler(new Greeting(), "/api");
        server.start();
        Thread.currentThread().join();
    }

    private static final class Greeting extends HttpHandler {
        @Override
        public void service(Request request, Response response) throws IOException {
            response.setContentType("application/json");
            response.setContentLength(GREETING.length());
            response.getWriter().write(GREETING);
        }
    }
}
