--  A REST server over AWS: GET /api is answered with a greeting.
--
--  Usage: rest_server PORT

with Ada.Command_Line;
with AWS.Config.Set;
with AWS.Server;
with Greeting;

procedure Rest_Server is
   Config : AWS.Config.Object := AWS.Config.Get_Current;
   Server : AWS.Server.HTTP;
begin
   AWS.Config.Set.Server_Name (Config, "rest");
   AWS.Config.Set.Server_Host (Config, "127.0.0.1");
   AWS.Config.Set.Server_Port (Config, Natural'Value (Ada.Command_Line.Argument (1)));
   AWS.Server.Start (Server, Greeting.Get'Access, Config);
   AWS.Server.Wait (AWS.Server.Forever);
end Rest_Server;
