with Features_Interrupt_Handler; use Features_Interrupt_Handler;
with Kit;

package body Features_Interrupts is

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Latency
        ("interrupt.protected_handler", Interrupt_Once'Access, Prepare'Access, Finish'Access);
   end Register;

end Features_Interrupts;
