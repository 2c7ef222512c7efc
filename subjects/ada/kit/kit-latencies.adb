with Kit.Prepared;
with Kit.Registry;
with Kit.Threads;

package body Kit.Latencies is

   Ns_Per_Second : constant := 1_000_000_000;

   Spun : constant Nanoseconds := 200_000;
   --  The last part of a wait is spent reading the clock: a delay of the system would end later than it was asked to

   function To_Duration (Time : Nanoseconds) return Duration
   is (Duration (Time / Ns_Per_Second) + Duration (Time mod Ns_Per_Second) / Ns_Per_Second);
   --  In two parts, as a Duration of so many seconds as Time has nanoseconds may not exist

   procedure Wait_Until (Time : Nanoseconds) is
      Left : constant Nanoseconds := Time - Now;
   begin
      if Left > 2 * Spun then
         delay To_Duration (Left - Spun);
      end if;
      while Now < Time loop
         null;
      end loop;
   end Wait_Until;

   procedure Operate_All (Operate : not null Operation; Interval : Nanoseconds; Results : in out Operations) is
      Intended : Nanoseconds := Now;
   begin
      for Result of Results loop
         if Interval > 0 then
            Wait_Until (Intended);
         else
            Intended := Now;
         end if;
         Result.Intended := Intended;
         Operate.all (Result.Taken);
         Intended := Intended + Interval;
      end loop;
   end Operate_All;

   procedure Operate_Untimed (Operate : not null Operation) is
      --  While all threads report

      Ignored : Sample;
   begin
      Threads.Start_Reporting;
      Operate.all (Ignored);
      Threads.Stop_Reporting;
   end Operate_Untimed;

   procedure Run
     (Test : Positive; Arg : Argument; Count : Positive; Interval : Nanoseconds; Results : out Operations_Access) is
      Operate : constant not null Operation := Registry.Tests (Test).Action.Operate;
   begin
      Results := new Operations (1 .. Count);   --  the components' defaults touch every page
      Threads.Forget_Reports;
      Prepared.Prepare (Test, Arg);
      Operate_Untimed (Operate);
      Operate_All (Operate, Interval, Results.all);
      Operate_Untimed (Operate);
      Prepared.Finish;
   exception
      when others =>
         Prepared.Give_Up;
         Free (Results);
         raise;
   end Run;

end Kit.Latencies;
