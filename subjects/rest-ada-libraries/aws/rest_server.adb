--  A REST server over AWS: GET /api is answered with a greeting.
--
--  Usage: rest_server PORT

with Ada.Command_Line;
with AWS.Config;
with AWS.Server;
with AWS_Settings;
with Greeting;

procedure Rest_Server is
   Config : AWS.Config.Object := AWS.Config.Default_Config;
   Server : AWS.Server.HTTP;
begin
   AWS_Settings.Set (Config, Port => Positive'Value (Ada.Command_Line.Argument (1)));
   AWS.Server.Start (Server, Greeting.Get'Access, Config);
   AWS.Server.Wait (AWS.Server.Forever);
end Rest_Server;
