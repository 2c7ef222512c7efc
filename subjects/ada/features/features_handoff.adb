with Features_Frame;
with Features_Handoff_Objects; use Features_Handoff_Objects;
with Kit;

package body Features_Handoff is

   procedure Control is new Features_Frame (Hand_Over_Nothing);
   procedure Test    is new Features_Frame (Hand_Over);

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Frame
        ("handoff.suspension_object", Control'Access, Test'Access, Prepare'Access, null, Finish'Access,
         Threads => 2);
      --  2 switches under FIFO; under the ordinary policy a woken task may run at once into the lock that its waker
      --  still holds, and switch back
   end Register;

end Features_Handoff;
