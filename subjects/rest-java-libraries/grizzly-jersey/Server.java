package rest;

import java.io.IOException;
import java.net.URI;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;

/** A REST server: GET /api is answered with a greeting, by a resource of Jersey (JAX-RS) over Grizzly, on its pool of workers. */
final class Server {
    private Server() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        URI address = URI.create("http://127.0.0.1:" + arguments[1] + "/");
        HttpServer server = GrizzlyHttpServerFactory.createHttpServer(address, new ResourceConfig(Greeting.class), false);
        for (NetworkListener listener : server.getListeners()) {
            // By default it closes a connection after 256 requests.
            listener.getKeepAlive().setMaxRequestsCount(-1);
        }
        server.start();
        Thread.currentThread().join();
    }
}
