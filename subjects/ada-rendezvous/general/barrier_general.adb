with General_Rendezvous;
with General_Selector;
with Switches;

package body Barrier_General is

   type Alternative is (Arrive_Entry, Pass_Entry, Expect_Entry);

   type Guards is array (Alternative) of Boolean;

   type No_Result is null record;

   package Scheme is new General_Rendezvous (In_Parameters => Gates.Client_Number, Out_Parameters => No_Result);

   package Selection is new General_Selector (Scheme, Alternative, Guards);
   use Selection;

   task Barrier;

   procedure Call (Its_Entry : Alternative; X : in Gates.Client_Number := 1) is
      Nothing : No_Result;
   begin
      Selector.Call (Its_Entry) (X, Nothing);
   end Call;

   procedure Expect (Number : in Gates.Client_Number) is
   begin
      Call (Expect_Entry, Number);
   end Expect;

   procedure Arrive is
   begin
      Call (Arrive_Entry);
   end Arrive;

   procedure Pass is
   begin
      Call (Pass_Entry);
   end Pass;

   task body Barrier is
      Nothing : constant No_Result := (null record);
      Parties : Gates.Client_Number := 1;
      Waiting : Natural := 0;
      Open    : Boolean := False;
      X       : Gates.Client_Number;
      Chosen  : Alternative;
   begin
      loop
         Selector.Acceptor ((Arrive_Entry => not Open, Pass_Entry => Open, Expect_Entry => True), Chosen);
         Entries (Chosen).Accept_Begin (X);
         Switches.Note;
         case Chosen is
            when Arrive_Entry =>
               Entries (Arrive_Entry).Accept_End (Nothing);
               Waiting := Waiting + 1;
               Open := Waiting = Parties;
            when Pass_Entry =>
               Entries (Pass_Entry).Accept_End (Nothing);
               Waiting := Waiting - 1;
               Open := Waiting > 0;
            when Expect_Entry =>
               Parties := X;
               Entries (Expect_Entry).Accept_End (Nothing);
         end case;
      end loop;
   end Barrier;

end Barrier_General;
