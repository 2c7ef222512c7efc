package body Merged_Rendezvous is

   protected body Calls is

      entry Call (for Its_Entry in Alternative) (X : in In_Parameters; Y : out Out_Parameters)
        when Now_Open (Its_Entry) is
         pragma Unreferenced (Y);
      begin
         Now_Open := (others => False);
         Called := True;
         Selected := Its_Entry;
         In_Values := X;
         requeue Queue with abort;
      end Call;

      entry Next
        (Y : in Out_Parameters; Open : in Alternatives; Chosen : out Alternative; X : out In_Parameters) when True is
         pragma Unreferenced (Chosen, X);
      begin
         if Goes_On then
            Goes_On := False;
            Results := Y;
            Ended := Ended + 1;
         end if;
         Now_Open := Open;
         requeue Await_Call;
      end Next;

      entry Await_Call
        (Y : in Out_Parameters; Open : in Alternatives; Chosen : out Alternative; X : out In_Parameters)
        when Called
      is
         pragma Unreferenced (Y, Open);
      begin
         Called := False;
         Chosen := Selected;
         X := In_Values;
         if Without_Body (Selected) then
            Ended := Ended + 1;
         else
            Goes_On := True;
         end if;
      end Await_Call;

      entry Queue (X : in In_Parameters; Y : out Out_Parameters) when Ended > 0 is
         pragma Unreferenced (X);
      begin
         Ended := Ended - 1;
         Y := Results;
      end Queue;

   end Calls;

end Merged_Rendezvous;
