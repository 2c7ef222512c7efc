--  The reference: an operation of known cost that every subject implements alike. One step is
--  x <- x * 6364136223846793005 + 1442695040888963407 (mod 2**64); a slice begins at x = 1; the checksum is the last x

package Kit.Chain is

   generic
      Steps : Positive;
   procedure Run (Count : Iterations; Sum : out Checksum);
   --  Steps steps in each iteration

   Reference_Steps : constant := 16;

   procedure Reference (Count : Iterations; Sum : out Checksum);

end Kit.Chain;
