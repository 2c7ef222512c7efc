with Switches;

package body Distributor_Tool_Optimised is

   procedure Run (Written : in out Fields.Total) is

      --  Was task type Client. Its clients call the Gate of a Client, and
      --  Client_Server accepts their calls (antiphon translate)
      type Client;
      type Client_Call is (No_Call, Initialise_Call);
      type Client_Open is array (Client_Call) of Boolean;
      type Client_Data is record
         Initialise_Its_Part : Fields.Part;
      end record;

      protected type Client_Gate is
         entry Initialise (Its_Part : in Fields.Part);

         --  For Client_Server alone:
         entry Accept_Next
           (Open   : in     Client_Open;
            Chosen : in out Client_Call;
            Data   : in out Client_Data);
         procedure Accept_End
           (Chosen : in out Client_Call;
            Data   : in     Client_Data);
         procedure Close (Chosen : in out Client_Call; Data : in Client_Data);
      private
         entry Initialise_End;
         entry Waiting
           (Open   : in     Client_Open;
            Chosen : in out Client_Call;
            Data   : in out Client_Data);
         Is_Open : Client_Open := (others => False);
         Called  : Client_Call := No_Call;
         Ended   : Client_Call := No_Call;
         Kept    : Client_Data;
         Closed  : Boolean := False;
      end Client_Gate;

      task type Client_Server (Self : access Client);

      type Client is limited record
         Gate : Client_Gate;
         Server : Client_Server (Client'Access);
      end record;

      task Server;

      Clients : array (Fields.Part) of Client;

      task body Server is
      begin
         for Part in Fields.Part loop
            Clients (Part).Gate.Initialise (Part);
            Switches.Note;
         end loop;
      end Server;

      protected body Client_Gate is

         function Takes (Call : Client_Call) return Boolean is
         begin
            return Is_Open (Call)
               and then Waiting'Count > 0
               and then Ended = No_Call;
         end Takes;

         procedure Take (Call : in Client_Call) is
         begin
            if Closed then
               raise Tasking_Error;
            end if;
            Is_Open := (others => False);
            Called := Call;
         end Take;

         procedure Release (Call : in Client_Call) is
         begin
            Ended := Call;
         end Release;

         procedure Finish is
         begin
            Ended := No_Call;
         end Finish;

         entry Initialise (Its_Part : in Fields.Part)
            when Closed or else Takes (Initialise_Call)
         is
         begin
            Take (Initialise_Call);
            Kept.Initialise_Its_Part := Its_Part;
            requeue Initialise_End;
         end Initialise;

         entry Initialise_End when Ended = Initialise_Call is
         begin
            Finish;
         end Initialise_End;

         entry Accept_Next
           (Open   : in     Client_Open;
            Chosen : in out Client_Call;
            Data   : in out Client_Data) when True is
         begin
            Kept := Data;
            Release (Chosen);
            Is_Open := Open;
            requeue Waiting with abort;
         end Accept_Next;

         procedure Accept_End
           (Chosen : in out Client_Call;
            Data   : in     Client_Data) is
         begin
            Kept := Data;
            Release (Chosen);
            Chosen := No_Call;
         end Accept_End;

         procedure Close (Chosen : in out Client_Call; Data : in Client_Data) is
         begin
            Kept := Data;
            Release (Chosen);
            Chosen := No_Call;
            Closed := True;
         end Close;

         entry Waiting
           (Open   : in     Client_Open;
            Chosen : in out Client_Call;
            Data   : in out Client_Data) when Called /= No_Call is
            pragma Unreferenced (Open);
         begin
            Chosen := Called;
            Data := Kept;
            Called := No_Call;
         end Waiting;

      end Client_Gate;

      task body Client_Server is
         Part : Fields.Part;
         Chosen : Client_Call := No_Call;
         Data : Client_Data;
      begin
         Switches.Note;
         Self.Gate.Accept_Next ((others => True), Chosen, Data);
         declare
            Its_Part : Fields.Part renames Data.Initialise_Its_Part;
         begin
            Part := Its_Part;
         end;
         Self.Gate.Accept_End (Chosen, Data);
         Switches.Note;
         Fields.Fill (Part, Written);
         Self.Gate.Close (Chosen, Data);
      exception
         when others =>
            Self.Gate.Close (Chosen, Data);
            raise;
      end Client_Server;

   begin
      null;
   end Run;

end Distributor_Tool_Optimised;
