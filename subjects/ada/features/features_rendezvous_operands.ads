--  The actual parameters of the rendezvous with parameters: variables of a package that is compiled apart, so that
--  their values are not known where calls are compiled.

with Kit;

package Features_Rendezvous_Operands is

   V : array (1 .. 100) of Integer;

   procedure Clear;
   --  V (I) = I, and nothing tallied

   function Total return Kit.Checksum;
   --  The tally and the sum of V: it differs if a parameter did not come back

end Features_Rendezvous_Operands;
