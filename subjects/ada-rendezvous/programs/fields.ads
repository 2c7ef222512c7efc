--  A field in 16 parts, which clients are told to fill

with Kit;

package Fields is

   Parts : constant := 16;

   subtype Part is Positive range 1 .. Parts;

   protected type Total is

      procedure Add (What : Kit.Checksum);

      function Sum return Kit.Checksum;

   private
      So_Far : Kit.Checksum := 0;
   end Total;

   procedure Fill (Its_Part : Part; Written : in out Total);
   --  Adds up what it writes. Called by each client once; reports the client's thread when threads are to report

end Fields;
