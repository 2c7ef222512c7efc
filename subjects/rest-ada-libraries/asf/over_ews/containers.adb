package body Containers is

   procedure Configure (Server : in out Container; Port : Positive) is
      Config : Servlet.Server.Configuration;
   begin
      Config.Listening_Port := Port;
      Server.Configure (Config);
   end Configure;

end Containers;
