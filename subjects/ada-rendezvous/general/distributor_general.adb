with Fields;
with General_Rendezvous;
with Kit;
with Switches;

package body Distributor_General is

   use type Kit.Checksum;

   type No_Result is null record;

   package Scheme is new General_Rendezvous (In_Parameters => Fields.Part, Out_Parameters => No_Result);

   function Next_Client return Fields.Part;

   task type Client (Number : Fields.Part := Next_Client);

   task Server;

   Initialise : array (Fields.Part) of Scheme.Rendezvous;
   --  An entry of each client

   Created : Natural := 0;

   function Next_Client return Fields.Part is
   begin
      Created := Created + 1;
      return Created;
   end Next_Client;

   Clients : array (Fields.Part) of Client;
   pragma Unreferenced (Clients);

   ------------
   -- Server --
   ------------

   task body Server is
      Result : No_Result;
   begin
      loop
         for Part in Fields.Part loop
            Switches.Note;
            Initialise (Part).Call (Part, Result);
         end loop;
      end loop;
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
            Initialise (Number).Accept_Begin (Part);
            Switches.Note;
            Initialise (Number).Accept_End ((null record));
            Sum := Sum + Fields.Fill (Part);
         end loop;
         Entrance.Report (Sum);
      end loop;
   end Client;

end Distributor_General;
