with Ada.Calendar;
with Ada.Execution_Time;
with Ada.Real_Time;
with Ada.Unchecked_Deallocation;
with Kit.System_Calls;
with Kit.Ticks;

package body Kit.Clocks is

   function New_Series (Length : Positive) return Series_Access is
   begin
      return Result : constant Series_Access := new Series (1 .. Length) do
         for Reading of Result.all loop
            Reading := 0;
         end loop;
      end return;
   end New_Series;

   procedure Keep (Seen : in out Gap_Loop; Start, Duration : Nanoseconds) is
   begin
      Seen.Count := Seen.Count + 1;
      Seen.Lost := Seen.Lost + Duration;
      if Seen.Count <= Kept_Gaps_Max then
         Seen.Kept (Positive (Seen.Count)) := (Start, Duration);
      end if;
   end Keep;

   --  The loops, for all clocks -------------------------------------------------------------------------------------

   generic
      type Reading is private;
      with function Read_Once return Reading;
      with function In_Units (Time : Reading) return Nanoseconds;
   package Loops is
      procedure Read (Into : in out Series);
      procedure Watch (Time, Over : Nanoseconds; Seen : in out Gap_Loop);
   end Loops;

   package body Loops is

      procedure Read (Into : in out Series) is
         type Readings is array (Into'Range) of Reading;
         type Readings_Access is access Readings;
         procedure Free is new Ada.Unchecked_Deallocation (Readings, Readings_Access);
         Times : Readings_Access := new Readings;
      begin
         for Time of Times.all loop   --  touches every page
            Time := Read_Once;
         end loop;
         for Time of Times.all loop
            Time := Read_Once;
         end loop;
         for I in Into'Range loop
            Into (I) := In_Units (Times (I));
         end loop;
         Free (Times);
      end Read;

      Readings_A_Look : constant := 1_024;
      --  Between two looks at whether time is up; a look takes no longer than a reading

      procedure Watch (Time, Over : Nanoseconds; Seen : in out Gap_Loop) is
         --  The last readings follow the look that found the time over: the loop is never shorter than asked for

         First     : constant Nanoseconds := In_Units (Read_Once);
         Ends      : constant Nanoseconds := Now + Time;
         Before    : Nanoseconds := First;
         This      : Nanoseconds;
         Over_Time : Boolean;
      begin
         Seen.Readings := 1;
         loop
            Over_Time := Now >= Ends;
            for I in 1 .. Readings_A_Look loop
               This := In_Units (Read_Once);
               if This - Before > Over then   --  a clock that is set back makes no gap
                  Keep (Seen, Before - First, This - Before);
               end if;
               Before := This;
            end loop;
            Seen.Readings := Seen.Readings + Readings_A_Look;
            exit when Over_Time;
         end loop;
         Seen.Elapsed := Nanoseconds'Max (Before - First, 0);
      end Watch;

   end Loops;

   --  Units ---------------------------------------------------------------------------------------------------------

   Ns_Per_Second : constant := 1_000_000_000;

   function To_Ns (Time : Duration) return Nanoseconds is
      Whole_Seconds : constant Nanoseconds := Nanoseconds (Time);
   begin
      return Whole_Seconds * Ns_Per_Second + Nanoseconds ((Time - Duration (Whole_Seconds)) * Ns_Per_Second);
   end To_Ns;

   Epoch : constant Ada.Calendar.Time := Ada.Calendar.Time_Of (1970, 1, 1);

   function To_Ns (Time : Ada.Calendar.Time) return Nanoseconds
   is (To_Ns (Ada.Calendar."-" (Time, Epoch)));

   function To_Ns (Time : Ada.Real_Time.Time) return Nanoseconds is
      Seconds : Ada.Real_Time.Seconds_Count;
      Rest    : Ada.Real_Time.Time_Span;
   begin
      Ada.Real_Time.Split (Time, Seconds, Rest);
      return Nanoseconds (Seconds) * Ns_Per_Second + To_Ns (Ada.Real_Time.To_Duration (Rest));
   end To_Ns;

   function To_Ns (Time : Ada.Execution_Time.CPU_Time) return Nanoseconds is
      Seconds : Ada.Real_Time.Seconds_Count;
      Rest    : Ada.Real_Time.Time_Span;
   begin
      Ada.Execution_Time.Split (Time, Seconds, Rest);
      return Nanoseconds (Seconds) * Ns_Per_Second + To_Ns (Ada.Real_Time.To_Duration (Rest));
   end To_Ns;

   function To_Ns (Time : System_Calls.Timespec) return Nanoseconds
   is (Nanoseconds (Time.Seconds) * Ns_Per_Second + Nanoseconds (Time.Nanoseconds));

   function Execution_Time return Ada.Execution_Time.CPU_Time
   is (Ada.Execution_Time.Clock);

   function Ticks_Now return Nanoseconds
   is (Nanoseconds (Kit.Ticks.Read));

   function Unchanged (Time : Nanoseconds) return Nanoseconds
   is (Time);

   --  The clocks ----------------------------------------------------------------------------------------------------

   package Calendar is new Loops (Ada.Calendar.Time, Ada.Calendar.Clock, To_Ns);
   package Real_Time is new Loops (Ada.Real_Time.Time, Ada.Real_Time.Clock, To_Ns);
   package Execution is new Loops (Ada.Execution_Time.CPU_Time, Execution_Time, To_Ns);
   package Counter is new Loops (Nanoseconds, Ticks_Now, Unchanged);

   generic
      Clock : System_Calls.Clock_Id;
   package Posix is

      function Read_Once return System_Calls.Timespec;

      package Its is new Loops (System_Calls.Timespec, Read_Once, To_Ns);

   end Posix;

   package body Posix is

      function Read_Once return System_Calls.Timespec is
      begin
         return Time : System_Calls.Timespec do
            System_Calls.Read_Clock (Clock, Time);
         end return;
      end Read_Once;

   end Posix;

   package Monotonic is new Posix (System_Calls.Clock_Monotonic);
   package Realtime is new Posix (System_Calls.Clock_Realtime);
   package Process_Cputime is new Posix (System_Calls.Clock_Process_Cputime);
   package Thread_Cputime is new Posix (System_Calls.Clock_Thread_Cputime);
   package Monotonic_Raw is new Posix (System_Calls.Clock_Monotonic_Raw);
   package Monotonic_Coarse is new Posix (System_Calls.Clock_Monotonic_Coarse);

   type Reader is access procedure (Into : in out Series);
   type Watcher is access procedure (Time, Over : Nanoseconds; Seen : in out Gap_Loop);

   type Name_Access is access constant String;

   type Clock_Description is record
      Name   : Name_Access;
      Its    : Unit;
      Read   : Reader;
      Watch  : Watcher;
   end record;

   Calendar_Name         : aliased constant String := "Ada.Calendar.Clock";
   Real_Time_Name        : aliased constant String := "Ada.Real_Time.Clock";
   Execution_Time_Name   : aliased constant String := "Ada.Execution_Time.Clock";
   Monotonic_Name        : aliased constant String := "CLOCK_MONOTONIC";
   Realtime_Name         : aliased constant String := "CLOCK_REALTIME";
   Process_Cputime_Name  : aliased constant String := "CLOCK_PROCESS_CPUTIME_ID";
   Thread_Cputime_Name   : aliased constant String := "CLOCK_THREAD_CPUTIME_ID";
   Monotonic_Raw_Name    : aliased constant String := "CLOCK_MONOTONIC_RAW";
   Monotonic_Coarse_Name : aliased constant String := "CLOCK_MONOTONIC_COARSE";
   Ticks_Name            : aliased constant String := "TSC";

   All_Clocks : constant array (Positive range <>) of Clock_Description :=
     ((Monotonic_Name'Access,         Ns,    Monotonic.Its.Read'Access,         Monotonic.Its.Watch'Access),
      (Calendar_Name'Access,          Ns,    Calendar.Read'Access,              Calendar.Watch'Access),
      (Real_Time_Name'Access,         Ns,    Real_Time.Read'Access,             Real_Time.Watch'Access),
      (Execution_Time_Name'Access,    Ns,    Execution.Read'Access,             Execution.Watch'Access),
      (Realtime_Name'Access,          Ns,    Realtime.Its.Read'Access,          Realtime.Its.Watch'Access),
      (Process_Cputime_Name'Access,   Ns,    Process_Cputime.Its.Read'Access,   Process_Cputime.Its.Watch'Access),
      (Thread_Cputime_Name'Access,    Ns,    Thread_Cputime.Its.Read'Access,    Thread_Cputime.Its.Watch'Access),
      (Monotonic_Raw_Name'Access,     Ns,    Monotonic_Raw.Its.Read'Access,     Monotonic_Raw.Its.Watch'Access),
      (Monotonic_Coarse_Name'Access,  Ns,    Monotonic_Coarse.Its.Read'Access,  Monotonic_Coarse.Its.Watch'Access),
      (Ticks_Name'Access,             Ticks, Counter.Read'Access,               Counter.Watch'Access));

   function Count return Clock_Count
   is (if Kit.Ticks.Available then All_Clocks'Last else All_Clocks'Last - 1);

   function Name (Clock : Positive) return String
   is (All_Clocks (Clock).Name.all);

   function Unit_Of (Clock : Positive) return Unit
   is (All_Clocks (Clock).Its);

   function Find (Its_Name : String) return Natural is
   begin
      for Clock in 1 .. Count loop
         if Name (Clock) = Its_Name then
            return Clock;
         end if;
      end loop;
      return 0;
   end Find;

   procedure Read (Clock : Positive; Into : in out Series) is
   begin
      All_Clocks (Clock).Read (Into);
   end Read;

   procedure Watch (Clock : Positive; Time, Over : Nanoseconds; Seen : in out Gap_Loop) is
   begin
      All_Clocks (Clock).Watch (Time, Over, Seen);
   end Watch;

end Kit.Clocks;
