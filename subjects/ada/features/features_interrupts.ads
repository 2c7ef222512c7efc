--  Interrupt response: from sending a signal to this process to the first statement of the attached protected
--  handler. GNAT has a server task for each handled signal, which waits for it and calls the handler: the response
--  has a task switch in it.

package Features_Interrupts is

   procedure Register;

end Features_Interrupts;
