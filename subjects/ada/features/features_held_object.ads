--  A protected procedure whose caller always finds the object held, on one processor too. A partner enters the object
--  and stays in it until the caller has come; control and test take the same steps, the control without the object, so
--  that the difference is the wait for the object and its handing over: on one processor two more switches of context,
--  across processors the caller's falling asleep and being woken. The C subject does the same with a mutex.

with Kit;

package Features_Held_Object is

   procedure Prepare (Arg : Kit.Argument);

   procedure Finish (Arg : Kit.Argument);

   procedure Come_Without_Object;
   --  The control

   procedure Come_And_Pass;

   function Total_When_Released return Kit.Checksum;
   --  When the partner's last round is over, for which the control does not wait

end Features_Held_Object;
