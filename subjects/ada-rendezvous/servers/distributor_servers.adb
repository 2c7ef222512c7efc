with Switches;

package body Distributor_Servers is

   procedure Run (Written : in out Fields.Total) is

      protected Server is
         entry Initialise (Its_Part : out Fields.Part);
      private
         Part : Positive := Fields.Part'First;
      end Server;

      task type Client;

      Clients : array (Fields.Part) of Client;
      pragma Unreferenced (Clients);

      protected body Server is

         entry Initialise (Its_Part : out Fields.Part) when True is
         begin
            Switches.Note;
            Its_Part := Part;
            Part := Part + 1;
         end Initialise;

      end Server;

      task body Client is
         Part : Fields.Part;
      begin
         Switches.Note;
         Server.Initialise (Part);
         Switches.Note;
         Fields.Fill (Part, Written);
      end Client;

   begin
      null;
   end Run;

end Distributor_Servers;
