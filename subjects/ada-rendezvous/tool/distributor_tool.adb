with Switches;

package body Distributor_Tool is

   procedure Run (Written : in out Fields.Total) is

      task type Client;

      --  Was task Server, which did nothing but call its clients (antiphon translate)
      protected Server is
         entry Initialise (Its_Part : out Fields.Part);
      private
         All_Given : Boolean := False;
         Current_Part : Fields.Part := Fields.Part'First;
      end Server;

      Clients : array (Fields.Part) of Client;

      protected body Server is

         entry Initialise (Its_Part : out Fields.Part) when not All_Given is
         begin
            Its_Part := Current_Part;
            Switches.Note;
            if Current_Part < Fields.Part'Last then
               Current_Part := Fields.Part'Succ (Current_Part);
            else
               All_Given := True;
            end if;
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

end Distributor_Tool;
