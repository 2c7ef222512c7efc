with Switches;

package body Barrier_Tool_Optimised is

   protected body Barrier is

      function Takes (Call : Barrier_Call) return Boolean is
      begin
         return Is_Open (Call)
            and then Waiting_For_Call'Count > 0
            and then Ended = No_Call;
      end Takes;

      procedure Take (Call : in Barrier_Call) is
      begin
         if Closed then
            raise Tasking_Error;
         end if;
         Is_Open := (others => False);
         Called := Call;
      end Take;

      procedure Release (Call : in Barrier_Call) is
      begin
         case Call is
            when Arrive_Call | Pass_Call =>
               null;  --  no accept body, so the caller has gone
            when others =>
               Ended := Call;
         end case;
      end Release;

      procedure Finish is
      begin
         Ended := No_Call;
      end Finish;

      entry Expect (Number : in Gates.Client_Number)
         when Closed or else Takes (Expect_Call)
      is
      begin
         Take (Expect_Call);
         Kept.Expect_Number := Number;
         requeue Expect_End;
      end Expect;

      entry Arrive
         when Closed or else Takes (Arrive_Call)
      is
      begin
         Take (Arrive_Call);
      end Arrive;

      entry Pass
         when Closed or else Takes (Pass_Call)
      is
      begin
         Take (Pass_Call);
      end Pass;

      entry Expect_End when Ended = Expect_Call is
      begin
         Finish;
      end Expect_End;

      entry Accept_Next
        (Open_Entries : in     Barrier_Open;
         Chosen       : in out Barrier_Call;
         Data         : in out Barrier_Data) when True is
      begin
         Kept := Data;
         Release (Chosen);
         Is_Open := Open_Entries;
         requeue Waiting_For_Call with abort;
      end Accept_Next;

      procedure Close (Chosen : in out Barrier_Call; Data : in Barrier_Data) is
      begin
         Kept := Data;
         Release (Chosen);
         Chosen := No_Call;
         Closed := True;
      end Close;

      entry Waiting_For_Call
        (Open_Entries : in     Barrier_Open;
         Chosen       : in out Barrier_Call;
         Data         : in out Barrier_Data) when Called /= No_Call is
         pragma Unreferenced (Open_Entries);
      begin
         Chosen := Called;
         Data := Kept;
         Called := No_Call;
      end Waiting_For_Call;

   end Barrier;

   task body Barrier_Server is
      Parties : Gates.Client_Number := 1;
      Waiting : Natural := 0;
      Open    : Boolean := False;
      Chosen : Barrier_Call := No_Call;
      Data : Barrier_Data;
   begin
      loop
         Barrier.Accept_Next
           ((Expect_Call => True,
             Arrive_Call => not Open,
             Pass_Call => Open,
             others => False),
            Chosen, Data);
         case Chosen is
            when Arrive_Call =>
               Switches.Note;
               Waiting := Waiting + 1;
               Open := Waiting = Parties;
            when Pass_Call =>
               Switches.Note;
               Waiting := Waiting - 1;
               Open := Waiting > 0;
            when Expect_Call =>
               declare
                  Number : Gates.Client_Number renames Data.Expect_Number;
               begin
                  Parties := Number;
               end;
            when others =>
               null;
         end case;
      end loop;
   exception
      when others =>
         Barrier.Close (Chosen, Data);
         raise;
   end Barrier_Server;

end Barrier_Tool_Optimised;
