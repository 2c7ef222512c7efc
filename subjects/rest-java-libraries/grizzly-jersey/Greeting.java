package rest;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/** GET /api is answered with a greeting, a text that is JSON already. */
@Path("api")
public final class Greeting {
    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public Response greet() {
        return Response.ok("{\"greeting\":\"Hello World!\"}").build();
    }
}
