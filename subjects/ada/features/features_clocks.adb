with Features_Clock_Readings; use Features_Clock_Readings;
with Features_Frame;
with Kit.Ticks;

package body Features_Clocks is

   procedure Control is new Features_Frame (Read_Nothing);

   procedure Calendar_Test         is new Features_Frame (Read_Calendar);
   procedure Real_Time_Test        is new Features_Frame (Read_Real_Time);
   procedure Execution_Time_Test   is new Features_Frame (Read_Execution_Time);
   procedure Monotonic_Test        is new Features_Frame (Read_Monotonic);
   procedure Realtime_Test         is new Features_Frame (Read_Realtime);
   procedure Process_Cputime_Test  is new Features_Frame (Read_Process_Cputime);
   procedure Thread_Cputime_Test   is new Features_Frame (Read_Thread_Cputime);
   procedure Monotonic_Raw_Test    is new Features_Frame (Read_Monotonic_Raw);
   procedure Monotonic_Coarse_Test is new Features_Frame (Read_Monotonic_Coarse);
   procedure Ticks_Test            is new Features_Frame (Read_Ticks);

   procedure Add (Name : String; Test : Kit.Frame);

   ---------
   -- Add --
   ---------

   procedure Add (Name : String; Test : Kit.Frame) is
   begin
      Kit.Register_Frame ("clock." & Name, Control'Access, Test, Expected => 0.0);
   end Add;

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Add ("calendar", Calendar_Test'Access);
      Add ("real_time", Real_Time_Test'Access);
      if Execution_Time_Supported then
         Add ("execution_time", Execution_Time_Test'Access);
      else
         Kit.Register_Absent
           ("clock.execution_time", "frame",
            "Ada.Execution_Time.Clock raises an exception on this target; a run-time system for one with per-thread"
            & " processor clocks has it");
      end if;
      Add ("monotonic", Monotonic_Test'Access);
      Add ("realtime", Realtime_Test'Access);
      Add ("process_cputime", Process_Cputime_Test'Access);
      Add ("thread_cputime", Thread_Cputime_Test'Access);
      Add ("monotonic_raw", Monotonic_Raw_Test'Access);
      Add ("monotonic_coarse", Monotonic_Coarse_Test'Access);
      if Kit.Ticks.Available then
         Add ("tsc", Ticks_Test'Access);
      else
         Kit.Register_Absent
           ("clock.tsc", "frame", "the kit reads no cycle counter on this processor; add one to kit/ticks");
      end if;
   end Register;

end Features_Clocks;
