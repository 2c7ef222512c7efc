package rest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;

/** A REST server: GET /api is answered with a greeting, by Grizzly: on its pool of workers, or on virtual threads in their place. */
final class Server {
    private static final byte[] GREETING = "{\"greeting\":\"Hello World!\"}".getBytes(StandardCharsets.UTF_8);

    private Server() {}

    public static void main(String[] arguments) throws IOException, InterruptedException, ReflectiveOperationException {
        int port = Integer.parseInt(arguments[1]);
        var server = new HttpServer();
        var listener = new NetworkListener("rest", "127.0.0.1", port);
        // By default it closes a connection after 256 requests.
        listener.getKeepAlive().setMaxRequestsCount(-1);
        if (arguments[0].equals("virtual")) {
            // By name, so that this file is compiled for releases without them, too.
            var each = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            listener.getTransport().setWorkerThreadPool(each);
        }
        server.addListener(listener);
        server.getServerConfiguration().addHttpHandler(new Greeting(), "/api");
        server.start();
        Thread.currentThread().join();
    }

    private static final class Greeting extends HttpHandler {
        @Override
        public void service(Request request, Response response) throws IOException {
            response.setContentType("application/json");
            response.setContentLength(GREETING.length);
            response.getOutputStream().write(GREETING);
        }
    }
}
