with Switches;

package body Distributor_Rendezvous is

   procedure Run (Written : in out Fields.Total) is

      task type Client is
         entry Initialise (Its_Part : in Fields.Part);
      end Client;

      task Server;

      Clients : array (Fields.Part) of Client;

      task body Server is
      begin
         for Part in Fields.Part loop
            Clients (Part).Initialise (Part);
            Switches.Note;
         end loop;
      end Server;

      task body Client is
         Part : Fields.Part;
      begin
         Switches.Note;
         accept Initialise (Its_Part : in Fields.Part) do
            Part := Its_Part;
         end Initialise;
         Switches.Note;
         Fields.Fill (Part, Written);
      end Client;

   begin
      null;
   end Run;

end Distributor_Rendezvous;
