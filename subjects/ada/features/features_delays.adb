with Features_Delay_Statements; use Features_Delay_Statements;
with Features_Frame;
with Kit;

package body Features_Delays is

   procedure Control       is new Features_Frame (Delay_Not);
   procedure Until_Control is new Features_Frame (Compute_Until);
   procedure Zero_Test     is new Features_Frame (Delay_Zero);
   procedure Relative_Test is new Features_Frame (Delay_Relative);
   procedure Until_Test    is new Features_Frame (Delay_Until);

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Frame ("delay.zero", Control'Access, Zero_Test'Access, Expected => 0.0);
      Kit.Register_Frame
        ("delay.relative", Control'Access, Relative_Test'Access, Prepare => Request'Access, Arg_Unit => "ns");
      Kit.Register_Frame
        ("delay.until", Until_Control'Access, Until_Test'Access, Prepare => Request'Access, Arg_Unit => "ns");
   end Register;

end Features_Delays;
