with General_Rendezvous;
with Switches;

package body Distributor_General is

   type No_Result is null record;

   package Scheme is new General_Rendezvous (In_Parameters => Fields.Part, Out_Parameters => No_Result);

   procedure Run (Written : in out Fields.Total) is
      Created : Natural := 0;

      function Next_Client return Fields.Part;

      task type Client (Number : Fields.Part := Next_Client);

      task Server;

      Initialise : array (Fields.Part) of Scheme.Rendezvous;
      --  An entry of each client

      function Next_Client return Fields.Part is
      begin
         Created := Created + 1;
         return Created;
      end Next_Client;

      Clients : array (Fields.Part) of Client;
      pragma Unreferenced (Clients);

      task body Server is
         Result : No_Result;
      begin
         for Part in Fields.Part loop
            Initialise (Part).Call (Part, Result);
            Switches.Note;
         end loop;
      end Server;

      task body Client is
         Part : Fields.Part;
      begin
         Switches.Note;
         Initialise (Number).Accept_Begin (Part);
         Switches.Note;
         Initialise (Number).Accept_End ((null record));
         Fields.Fill (Part, Written);
      end Client;

   begin
      null;
   end Run;

end Distributor_General;
