--  The answer to GET /api.

with AWS.Response;
with AWS.Status;

package Greeting is

   function Get (Request : AWS.Status.Data) return AWS.Response.Data;

end Greeting;
