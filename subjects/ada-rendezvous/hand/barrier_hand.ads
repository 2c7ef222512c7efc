--  A barrier that every party must reach before any may pass

with Gates;

package Barrier_Hand is

   procedure Expect (Number : in Gates.Client_Number);
   --  How many parties there are; called while none is at the barrier

   procedure Arrive is null with Inline;

   procedure Pass;
   --  Returns when all have called it

end Barrier_Hand;
