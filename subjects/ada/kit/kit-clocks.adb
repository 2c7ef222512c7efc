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

   --  One loop for all clocks ---------------------------------------------------------------------------------------

   generic
      type Reading is private;
      with function Read_Once return Reading;
      with function In_Units (Time : Reading) return Nanoseconds;
   procedure Read_Series (Into : in out Series);

   procedure Read_Series (Into : in out Series) is
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
   end Read_Series;

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

   generic
      Clock : System_Calls.Clock_Id;
   package Posix is
      procedure Read (Into : in out Series);
   end Posix;

   package body Posix is

      function Read_Once return System_Calls.Timespec is
      begin
         return Time : System_Calls.Timespec do
            System_Calls.Read_Clock (Clock, Time);
         end return;
      end Read_Once;

      procedure Read_All is new Read_Series (System_Calls.Timespec, Read_Once, To_Ns);

      procedure Read (Into : in out Series) renames Read_All;

   end Posix;

   procedure Read_Calendar is new Read_Series (Ada.Calendar.Time, Ada.Calendar.Clock, To_Ns);
   procedure Read_Real_Time is new Read_Series (Ada.Real_Time.Time, Ada.Real_Time.Clock, To_Ns);
   procedure Read_Execution_Time is new Read_Series (Ada.Execution_Time.CPU_Time, Execution_Time, To_Ns);
   procedure Read_Ticks is new Read_Series (Nanoseconds, Ticks_Now, Unchanged);

   package Monotonic is new Posix (System_Calls.Clock_Monotonic);
   package Realtime is new Posix (System_Calls.Clock_Realtime);
   package Process_Cputime is new Posix (System_Calls.Clock_Process_Cputime);
   package Thread_Cputime is new Posix (System_Calls.Clock_Thread_Cputime);
   package Monotonic_Raw is new Posix (System_Calls.Clock_Monotonic_Raw);
   package Monotonic_Coarse is new Posix (System_Calls.Clock_Monotonic_Coarse);

   type Reader is access procedure (Into : in out Series);

   type Name_Access is access constant String;

   type Clock_Description is record
      Name   : Name_Access;
      Its    : Unit;
      Read   : Reader;
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
     ((Monotonic_Name'Access,        Ns,    Monotonic.Read'Access),
      (Calendar_Name'Access,         Ns,    Read_Calendar'Access),
      (Real_Time_Name'Access,        Ns,    Read_Real_Time'Access),
      (Execution_Time_Name'Access,   Ns,    Read_Execution_Time'Access),
      (Realtime_Name'Access,         Ns,    Realtime.Read'Access),
      (Process_Cputime_Name'Access,  Ns,    Process_Cputime.Read'Access),
      (Thread_Cputime_Name'Access,   Ns,    Thread_Cputime.Read'Access),
      (Monotonic_Raw_Name'Access,    Ns,    Monotonic_Raw.Read'Access),
      (Monotonic_Coarse_Name'Access, Ns,    Monotonic_Coarse.Read'Access),
      (Ticks_Name'Access,            Ticks, Read_Ticks'Access));

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

end Kit.Clocks;
