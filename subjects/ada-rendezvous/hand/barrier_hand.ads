--  A barrier that every party must reach before any may pass. Between Arrive and Pass a party may do what it likes

with Gates;

package Barrier_Hand is

   protected Barrier is
      procedure Expect (Number : in Gates.Client_Number);
      --  How many parties there are; called while none is at the barrier
      entry Arrive;
      --  Waits for those who have not yet passed it the last time
      entry Pass;
      --  After Arrive; returns when all have arrived
   private
      Parties : Gates.Client_Number := 1;
      Arrived : Natural := 0;
      Open    : Boolean := False;
   end Barrier;

end Barrier_Hand;
