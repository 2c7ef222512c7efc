--  A barrier that every party must reach before any may pass, kept by a task

with Gates;

package Barrier_Tool is

   --  Was task Barrier, which did nothing but serve these calls (antiphon translate)
   protected Barrier is
      procedure Expect (Number : in Gates.Client_Number);
      --  How many parties there are; called while none is at the barrier
      entry Arrive;
      entry Pass;
      --  After Arrive; returns when all have arrived
   private
      Parties : Gates.Client_Number := 1;
      Waiting : Natural := 0;
      Open    : Boolean := False;
   end Barrier;

end Barrier_Tool;
