with Fields;
with Kit;
with Switches;

package body Distributor_Rendezvous is

   use type Kit.Checksum;

   task type Client is
      entry Initialise (Its_Part : in Fields.Part);
   end Client;

   task Server;

   Clients : array (Fields.Part) of Client;

   task body Server is
   begin
      loop
         for Part in Fields.Part loop
            Switches.Note;
            Clients (Part).Initialise (Part);
         end loop;
      end loop;
   end Server;

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
            accept Initialise (Its_Part : in Fields.Part) do
               Switches.Note;
               Part := Its_Part;
            end Initialise;
            Sum := Sum + Fields.Fill (Part);
         end loop;
         Entrance.Report (Sum);
      end loop;
   end Client;

end Distributor_Rendezvous;
