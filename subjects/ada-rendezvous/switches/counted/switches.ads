--  Context switches counted as the study did: at each synchronization point, which task is running is compared with
--  which one ran at the last (Current_Task is what System.Tasking.Self was then). For tasks on one processor

with Kit;

package Switches is

   procedure Note;

   function Counted return Kit.Nanoseconds;
   --  So far; the kit's type for counts of the system

end Switches;
