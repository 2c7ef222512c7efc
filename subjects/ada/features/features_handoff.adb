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
         Expected => 2.0, Threads => 2);
   end Register;

end Features_Handoff;
