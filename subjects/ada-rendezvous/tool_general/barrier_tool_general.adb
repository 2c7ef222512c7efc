with Switches;

package body Barrier_Tool_General is

   protected body Barrier_Expect_Rendezvous is

      entry Call (Number : in Gates.Client_Number) when not Called is
      begin
         Kept_Number := Number;
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin (Number : out Gates.Client_Number) when Called is
      begin
         Number := Kept_Number;
      end Accept_Begin;

      procedure Accept_End is
      begin
         Ended := Called;
      end Accept_End;

      entry Queue when Ended is
      begin
         Called := False;
         Ended := False;
      end Queue;

   end Barrier_Expect_Rendezvous;

   protected body Barrier_Arrive_Rendezvous is

      entry Call when not Called is
      begin
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin when Called is
      begin
         null;
      end Accept_Begin;

      procedure Accept_End is
      begin
         Ended := Called;
      end Accept_End;

      entry Queue when Ended is
      begin
         Called := False;
         Ended := False;
      end Queue;

   end Barrier_Arrive_Rendezvous;

   protected body Barrier is

      function Takes (Call : Barrier_Call) return Boolean is
      begin
         return Is_Open (Call)
            and then Waiting_For_Call'Count > 0;
      end Takes;

      procedure Take (Call : in Barrier_Call) is
      begin
         if Closed then
            raise Tasking_Error;
         end if;
         Is_Open := (others => False);
         Called := Call;
      end Take;

      entry Expect (Number : in Gates.Client_Number)
         when Closed or else Takes (Expect_Call)
      is
      begin
         Take (Expect_Call);
         requeue Barrier_Expect.Call;
      end Expect;

      entry Arrive
         when Closed or else Takes (Arrive_Call)
      is
      begin
         Take (Arrive_Call);
         requeue Barrier_Arrive.Call;
      end Arrive;

      entry Pass
         when Closed or else Takes (Pass_Call)
      is
      begin
         Take (Pass_Call);
         requeue Barrier_Pass.Call;
      end Pass;

      entry Accept_Next
        (Open_Entries : in  Barrier_Open;
         Chosen       : out Barrier_Call) when True is
      begin
         Is_Open := Open_Entries;
         requeue Waiting_For_Call with abort;
      end Accept_Next;

      procedure Close is
      begin
         Closed := True;
      end Close;

      entry Waiting_For_Call
        (Open_Entries : in  Barrier_Open;
         Chosen       : out Barrier_Call) when Called /= No_Call is
         pragma Unreferenced (Open_Entries);
      begin
         Chosen := Called;
         Called := No_Call;
      end Waiting_For_Call;

   end Barrier;

   task body Barrier_Server is
      Parties : Gates.Client_Number := 1;
      Waiting : Natural := 0;
      Open    : Boolean := False;
      Chosen : Barrier_Call;
   begin
      loop
         Barrier.Accept_Next
           ((Expect_Call => True,
             Arrive_Call => not Open,
             Pass_Call => Open,
             others => False),
            Chosen);
         case Chosen is
            when Arrive_Call =>
               Barrier_Arrive.Accept_Begin;
               Barrier_Arrive.Accept_End;
               Switches.Note;
               Waiting := Waiting + 1;
               Open := Waiting = Parties;
            when Pass_Call =>
               Barrier_Pass.Accept_Begin;
               Barrier_Pass.Accept_End;
               Switches.Note;
               Waiting := Waiting - 1;
               Open := Waiting > 0;
            when Expect_Call =>
               declare
                  Number : Gates.Client_Number;
               begin
                  Barrier_Expect.Accept_Begin (Number);
                  Parties := Number;
                  Barrier_Expect.Accept_End;
               end;
            when others =>
               null;
         end case;
      end loop;
   exception
      when others =>
         Barrier.Close;
         raise;
   end Barrier_Server;

end Barrier_Tool_General;
