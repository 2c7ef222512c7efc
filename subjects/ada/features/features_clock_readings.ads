--  One reading of each clock, compiled apart from the frames. A reading is stored where no compiler can drop it.

package Features_Clock_Readings is

   procedure Read_Nothing;

   --  Of the language

   procedure Read_Calendar;
   procedure Read_Real_Time;
   procedure Read_Execution_Time;

   function Execution_Time_Supported return Boolean;

   --  Of the system, by clock_gettime

   procedure Read_Monotonic;
   procedure Read_Realtime;
   procedure Read_Process_Cputime;
   procedure Read_Thread_Cputime;
   procedure Read_Monotonic_Raw;
   procedure Read_Monotonic_Coarse;

   --  Of the processor

   procedure Read_Ticks;

end Features_Clock_Readings;
