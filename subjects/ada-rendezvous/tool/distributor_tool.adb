with Switches;

package body Distributor_Tool is

   procedure Run (Written : in out Fields.Total) is

      task type Client;

      --  Was task Server, which did nothing but call Initialise of its clients (antiphon translate)
      protected Server is
         entry Initialise (Its_Part : out Fields.Part);
      private
         Part : Fields.Part := Fields.Part'First;
         All_Given : Boolean := False;
      end Server;

      Clients : array (Fields.Part) of Client;

      protected body Server is

         entry Initialise (Its_Part : out Fields.Part) when not All_Given is
         begin
            Switches.Note;
            Its_Part := Part;
            if Part < Fields.Part'Last then
               Part := Fields.Part'Succ (Part);
            else
               All_Given := True;
            end if;
         end Initialise;

      end Server;

      task body Client is
         Part : Fields.Part;
      begin
         Switches.Note;
         declare
            Its_Part : Fields.Part;
         begin
            Server.Initialise (Its_Part);
            Switches.Note;
            Part := Its_Part;
         end;
         Fields.Fill (Part, Written);
      end Client;

   begin
      null;
   end Run;

end Distributor_Tool;
