with Switches;

package body Barrier_Hand is

   protected Barrier is
      procedure Expect (Number : in Gates.Client_Number);
      entry Wait;
   private
      Parties : Gates.Client_Number := 1;
      Open    : Boolean := False;
   end Barrier;

   protected body Barrier is

      procedure Expect (Number : in Gates.Client_Number) is
      begin
         Parties := Number;
      end Expect;

      entry Wait when Open or Wait'Count = Parties is
      begin
         Switches.Note;
         Open := Wait'Count > 0;
      end Wait;

   end Barrier;

   procedure Expect (Number : in Gates.Client_Number) is
   begin
      Barrier.Expect (Number);
   end Expect;

   procedure Pass is
   begin
      Barrier.Wait;
   end Pass;

end Barrier_Hand;
