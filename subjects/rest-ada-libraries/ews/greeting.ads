--  The answer to GET /api.

with EWS.Dynamic;
with EWS.HTTP;

package Greeting is

   function Get (Request : EWS.HTTP.Request_P) return EWS.Dynamic.Dynamic_Response'Class;

end Greeting;
