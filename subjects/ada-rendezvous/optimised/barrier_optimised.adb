with Merged_Rendezvous;
with Switches;

package body Barrier_Optimised is

   type Alternative is (Arrive_Entry, Pass_Entry, Expect_Entry);

   type Alternatives is array (Alternative) of Boolean;

   type No_Result is null record;

   package Scheme is new Merged_Rendezvous
     (Gates.Client_Number, No_Result, Alternative, Alternatives,
      Without_Body => (Expect_Entry => False, others => True));
   use Scheme;

   task Barrier;

   procedure Call (Its_Entry : Alternative; X : in Gates.Client_Number := 1) is
      Nothing : No_Result;
   begin
      Calls.Call (Its_Entry) (X, Nothing);
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
         Calls.Next (Nothing, (Arrive_Entry => not Open, Pass_Entry => Open, Expect_Entry => True), Chosen, X);
         Switches.Note;
         case Chosen is
            when Arrive_Entry =>
               Waiting := Waiting + 1;
               Open := Waiting = Parties;
            when Pass_Entry =>
               Waiting := Waiting - 1;
               Open := Waiting > 0;
            when Expect_Entry =>
               Parties := X;
         end case;
      end loop;
   end Barrier;

end Barrier_Optimised;
