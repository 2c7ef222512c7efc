--  The counter: every task adds one as often as it can.

package Counters is

   --  Way is unsafe, atomic or locked.
   procedure Run (Way : String; Tasks, Time_Ms : Positive);

end Counters;
