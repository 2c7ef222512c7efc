with Switches;

package body Distributor_Hand is

   procedure Run (Written : in out Fields.Total) is

      protected Distributor is
         procedure Get (Its_Part : out Fields.Part);
      private
         Given : Natural := 0;
      end Distributor;

      task type Client;

      Clients : array (Fields.Part) of Client;
      pragma Unreferenced (Clients);

      protected body Distributor is

         procedure Get (Its_Part : out Fields.Part) is
         begin
            Switches.Note;
            Given := Given + 1;
            Its_Part := Given;
         end Get;

      end Distributor;

      task body Client is
         Part : Fields.Part;
      begin
         Switches.Note;
         Distributor.Get (Part);
         Switches.Note;
         Fields.Fill (Part, Written);
      end Client;

   begin
      null;
   end Run;

end Distributor_Hand;
