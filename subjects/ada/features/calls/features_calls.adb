with Calls_Generic_Inter;
with Calls_Generic_Intra;
with Calls_Inline;
with Calls_Inter;
with Calls_Intra;

package body Features_Calls is

   procedure Register is
   begin
      Calls_Inter.Register;
      Calls_Intra.Register;
      Calls_Inline.Register;
      Calls_Generic_Inter.Register;
      Calls_Generic_Intra.Register;
   end Register;

end Features_Calls;
