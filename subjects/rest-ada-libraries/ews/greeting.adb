with EWS.Types;

package body Greeting is

   function Get (Request : EWS.HTTP.Request_P) return EWS.Dynamic.Dynamic_Response'Class is
      Response : EWS.Dynamic.Dynamic_Response (Request);
   begin
      EWS.Dynamic.Set_Content_Type (Response, To => EWS.Types.JSON);
      EWS.Dynamic.Set_Content (Response, "{""greeting"":""Hello World!""}");
      return Response;
   end Get;

end Greeting;
