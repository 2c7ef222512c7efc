with Switches;

package body Barrier_Tool is

   protected body Barrier is

      procedure Expect (Number : in Gates.Client_Number) is
      begin
         Parties := Number;
      end Expect;

      entry Arrive when not Open is
      begin
         Switches.Note;
         Waiting := Waiting + 1;
         Open := Waiting = Parties;
      end Arrive;

      entry Pass when Open is
      begin
         Switches.Note;
         Waiting := Waiting - 1;
         Open := Waiting > 0;
      end Pass;

   end Barrier;

end Barrier_Tool;
