with Fields;
with Kit;
with Switches;

package body Distributor_Servers is

   use type Kit.Checksum;

   protected Server is
      entry Initialise (Its_Part : out Fields.Part);
   private
      Part : Fields.Part := Fields.Part'First;
   end Server;

   task type Client;

   Clients : array (Fields.Part) of Client;
   pragma Unreferenced (Clients);

   ------------
   -- Server --
   ------------

   protected body Server is

      entry Initialise (Its_Part : out Fields.Part) when True is
      begin
         Switches.Note;
         Its_Part := Part;
         if Part = Fields.Part'Last then
            Part := Fields.Part'First;
         else
            Part := Part + 1;
         end if;
      end Initialise;

   end Server;

   ------------
   -- Client --
   ------------

   task body Client is
      Turn   : Gates.Parity := 0;
      Rounds : Kit.Iterations;
      Part   : Fields.Part;
      Sum    : Kit.Checksum;
   begin
      loop
         Gates.Enter (Entrance, Turn, Rounds);
         Sum := 0;
         for Round in 1 .. Rounds loop
            Switches.Note;
            Server.Initialise (Part);
            Switches.Note;
            Sum := Sum + Fields.Fill (Part);
         end loop;
         Entrance.Report (Sum);
      end loop;
   end Client;

end Distributor_Servers;
