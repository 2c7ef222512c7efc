with Features_Interrupt_Handler; use Features_Interrupt_Handler;
with Kit;

package body Features_Interrupts is

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Latency
        ("interrupt.protected_handler", Interrupt_Once'Access, Prepare'Access, Finish'Access,
         Threads => 2);   --  the handler runs in a task of GNAT's run-time system
   end Register;

end Features_Interrupts;
