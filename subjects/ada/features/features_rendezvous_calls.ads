--  One entry call each, compiled apart from the frames. Calls count themselves only where no acceptor does.

with Kit;

package Features_Rendezvous_Calls is

   procedure Call_Nothing;
   --  The control: counts, as the accept bodies do

   procedure Call_Simple;

   procedure Call_Bodiless;

   procedure Clear_Bodiless;

   function Bodiless_Total return Kit.Checksum;
   --  The calls accepted. A call of an entry without a body returns before the acceptor goes on: waits until it has,
   --  as its work belongs to the calls of this frame

   procedure Call_Select_2;

   procedure Call_Select_10;
   --  The entry of the last alternative: the acceptor's list is searched to its end

   procedure Call_If_Accepted;
   --  A conditional call that is accepted. A refusal (the acceptor is not back at its accept, which happens where it
   --  is not scheduled first) yields and tries again, inside the measured time

   procedure Call_If_Refused;

   procedure Call_In_Time;
   --  A timed call that is accepted: the time-out is far away

   procedure Call_Too_Late;
   --  A timed call that expires. The time-out is 0.0, so that the cost is the construct's and not the waiting's;
   --  unlike a conditional call it takes the path through the timer

   procedure Call_Too_Late_1_US;
   --  The same with a time-out of 1 µs, which is part of the cost

   No_Wait         : Duration := 0.0;
   One_Microsecond : Duration := 0.000_001;
   --  Those time-outs: variables, as a compiler may make a conditional call of a time-out that it knows to be zero

end Features_Rendezvous_Calls;
