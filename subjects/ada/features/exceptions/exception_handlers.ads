--  Procedures around a call that raises nothing, with and without a handler. Compiled apart from the frames

package Exception_Handlers is

   procedure Bare;
   procedure Handling;

end Exception_Handlers;
