with Features_Tally;

package body Features_Rendezvous_Operands is

   use type Kit.Checksum;

   -----------
   -- Clear --
   -----------

   procedure Clear is
   begin
      for I in V'Range loop
         V (I) := I;
      end loop;
      Features_Tally.Clear;
   end Clear;

   -----------
   -- Total --
   -----------

   function Total return Kit.Checksum is
      Sum : Kit.Checksum := Features_Tally.Total;
   begin
      for Value of V loop
         Sum := Sum + Kit.Checksum (Value);
      end loop;
      return Sum;
   end Total;

end Features_Rendezvous_Operands;
