with AWS.Messages;

package body Greeting is

   function Get (Request : AWS.Status.Data) return AWS.Response.Data is
   begin
      if AWS.Status.URI (Request) /= "/api" then
         return AWS.Response.Acknowledge (AWS.Messages.S404);
      end if;
      return AWS.Response.Build ("application/json", "{""greeting"":""Hello World!""}");
   end Get;

end Greeting;
