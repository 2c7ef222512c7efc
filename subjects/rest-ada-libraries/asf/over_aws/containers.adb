with AWS.Config;
with AWS_Settings;

package body Containers is

   procedure Configure (Server : in out Container; Port : Positive) is
      procedure Set (Config : in out AWS.Config.Object);

      procedure Set (Config : in out AWS.Config.Object) is
      begin
         AWS_Settings.Set (Config, Port);
      end Set;
   begin
      Server.Configure (Set'Access);
   end Configure;

end Containers;
