--  What the components need stands in the body, or in units that only the body names.

package Depots is

   task Depot is
      entry Put (N : in Positive);
      entry Take (N : out Natural);
   end Depot;

   --  Needs the same type
   task Ledger is
      entry Note (N : in Positive);
      entry Sum (N : out Natural);
   end Ledger;

end Depots;
