--  A protected procedure whose caller always finds the object held, on one processor too. A partner enters the object
--  and stays in it until the caller has come; control and test take the same steps, the control without the object, so
--  that the difference is the wait for the object and its handing over. The C subject does the same with a mutex.

with Kit;

package Features_Held_Object is

   procedure Prepare (Arg : Kit.Argument);

   procedure Finish (Arg : Kit.Argument);

   procedure Come_Without_Object;
   --  The control

   procedure Come_And_Pass;

end Features_Held_Object;
