--  A REST server over EWS: GET /api is answered with a greeting.
--
--  Usage: rest_server PORT

with Ada.Command_Line;
with EWS.Dynamic;
with EWS.Server;
with GNAT.Sockets;
with Greeting;

procedure Rest_Server is
   Port : constant GNAT.Sockets.Port_Type := GNAT.Sockets.Port_Type'Value (Ada.Command_Line.Argument (1));
begin
   EWS.Dynamic.Register (Greeting.Get'Access, "/api");
   EWS.Server.Serve (Port);
   delay Duration'Last;
end Rest_Server;
