--  A protected handler of SIGUSR1 and the sending of one signal to it

with Kit;

package Features_Interrupt_Handler is

   procedure Prepare (Arg : Kit.Argument);
   --  Attaches the handler

   procedure Finish (Arg : Kit.Argument);
   --  Puts back what was attached before

   procedure Interrupt_Once (Result : out Kit.Sample);
   --  Actual: before sending; Ended: the handler's first statement. Program_Error if no handler ran within a second

end Features_Interrupt_Handler;
