--  A field in 16 parts, which clients are told to fill

with Kit;

package Fields is

   Parts : constant := 16;

   subtype Part is Positive range 1 .. Parts;

   function Fill (Its_Part : Part) return Kit.Checksum;
   --  The sum of what was written

end Fields;
