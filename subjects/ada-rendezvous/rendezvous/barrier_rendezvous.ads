--  A barrier that every party must reach before any may pass, kept by a task

with Gates;

package Barrier_Rendezvous is

   task Barrier is
      entry Expect (Number : in Gates.Client_Number);
      --  How many parties there are; called while none is at the barrier
      entry Arrive;
      entry Pass;
      --  After Arrive; returns when all have arrived
   end Barrier;

end Barrier_Rendezvous;
