with Ada.Calendar;
with Ada.Execution_Time;
with Ada.Real_Time;
with Features_Tally;   use Features_Tally;
with Interfaces;
with Kit.System_Calls; use Kit.System_Calls;
with Kit.Ticks;

package body Features_Clock_Readings is

   use type Kit.Checksum;

   Calendar_Time  : Ada.Calendar.Time := Ada.Calendar.Clock with Volatile;
   Real_Time      : Ada.Real_Time.Time := Ada.Real_Time.Time_First with Volatile;
   Execution_Time : Ada.Execution_Time.CPU_Time := Ada.Execution_Time.CPU_Time_First with Volatile;
   System_Time    : Timespec := (0, 0) with Volatile;
   Tick_Count     : Interfaces.Unsigned_64 := 0 with Volatile;

   generic
      Clock : Clock_Id;
   procedure Read_System_Clock;

   ------------------
   -- Read_Nothing --
   ------------------

   procedure Read_Nothing is
   begin
      Done := Done + 1;
   end Read_Nothing;

   -------------------
   -- Read_Calendar --
   -------------------

   procedure Read_Calendar is
   begin
      Calendar_Time := Ada.Calendar.Clock;
      Done := Done + 1;
   end Read_Calendar;

   --------------------
   -- Read_Real_Time --
   --------------------

   procedure Read_Real_Time is
   begin
      Real_Time := Ada.Real_Time.Clock;
      Done := Done + 1;
   end Read_Real_Time;

   -------------------------
   -- Read_Execution_Time --
   -------------------------

   procedure Read_Execution_Time is
   begin
      Execution_Time := Ada.Execution_Time.Clock;
      Done := Done + 1;
   end Read_Execution_Time;

   ------------------------------
   -- Execution_Time_Supported --
   ------------------------------

   function Execution_Time_Supported return Boolean is
      use type Ada.Execution_Time.CPU_Time;
   begin
      return Ada.Execution_Time.Clock >= Ada.Execution_Time.CPU_Time_First;
   exception
      when others =>
         return False;
   end Execution_Time_Supported;

   -----------------------
   -- Read_System_Clock --
   -----------------------

   procedure Read_System_Clock is
      Time : Timespec;
   begin
      Read_Clock (Clock, Time);
      System_Time := Time;
      Done := Done + 1;
   end Read_System_Clock;

   procedure Monotonic        is new Read_System_Clock (Clock_Monotonic);
   procedure Realtime         is new Read_System_Clock (Clock_Realtime);
   procedure Process_Cputime  is new Read_System_Clock (Clock_Process_Cputime);
   procedure Thread_Cputime   is new Read_System_Clock (Clock_Thread_Cputime);
   procedure Monotonic_Raw    is new Read_System_Clock (Clock_Monotonic_Raw);
   procedure Monotonic_Coarse is new Read_System_Clock (Clock_Monotonic_Coarse);

   procedure Read_Monotonic renames Monotonic;
   procedure Read_Realtime renames Realtime;
   procedure Read_Process_Cputime renames Process_Cputime;
   procedure Read_Thread_Cputime renames Thread_Cputime;
   procedure Read_Monotonic_Raw renames Monotonic_Raw;
   procedure Read_Monotonic_Coarse renames Monotonic_Coarse;

   ----------------
   -- Read_Ticks --
   ----------------

   procedure Read_Ticks is
   begin
      Tick_Count := Kit.Ticks.Read;
      Done := Done + 1;
   end Read_Ticks;

end Features_Clock_Readings;
