with AWS.Config.Set;

package body AWS_Settings is

   Tasks       : constant := 8;
   Connections : constant := 1024;

   procedure Set (Config : in out AWS.Config.Object; Port : Positive) is
   begin
      AWS.Config.Set.Server_Host (Config, "127.0.0.1");
      AWS.Config.Set.Server_Port (Config, Port);
      AWS.Config.Set.Reuse_Address (Config, True);
      AWS.Config.Set.Max_Connection (Config, Tasks);
      AWS.Config.Set.Accept_Queue_Size (Config, Connections);
      AWS.Config.Set.Keep_Alive_Force_Limit (Config, Connections);
      AWS.Config.Set.Parameter (Config, "keep_alive_close_limit", Connections'Image);
   end Set;

end AWS_Settings;
