package body Features_Tally is

   -----------
   -- Clear --
   -----------

   procedure Clear is
   begin
      Done := 0;
   end Clear;

   -----------
   -- Total --
   -----------

   function Total return Kit.Checksum is (Done);

end Features_Tally;
