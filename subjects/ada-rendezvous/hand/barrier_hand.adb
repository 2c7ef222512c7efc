with Switches;

package body Barrier_Hand is

   protected body Barrier is

      procedure Expect (Number : in Gates.Client_Number) is
      begin
         Parties := Number;
      end Expect;

      entry Arrive when not Open is
      begin
         Switches.Note;
         Arrived := Arrived + 1;
         Open := Arrived = Parties;
      end Arrive;

      entry Pass when Open is
      begin
         Switches.Note;
         Arrived := Arrived - 1;
         Open := Arrived > 0;
      end Pass;

   end Barrier;

end Barrier_Hand;
