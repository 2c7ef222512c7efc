with Kit; use Kit;

package body Features_Absent is

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Register_Absent ("handoff.semaphore", "frame", "Ada has no semaphores; see handoff.suspension_object");
      Register_Absent ("handoff.condvar", "frame", "Ada has no condition variables; see protected.contended.entry");
      Register_Absent
        ("interrupt.signal_handler", "latency",
         "GNAT's run-time system awaits signals itself; see interrupt.protected_handler");
      Register_Absent
        ("interrupt.signal_wait", "latency",
         "GNAT's run-time system awaits signals itself; see interrupt.protected_handler");
   end Register;

end Features_Absent;
