--  The processor's own counter, on processors for which the kit has no way to read one

with Interfaces;

package Kit.Ticks is

   Available : constant Boolean := False;

   function Read return Interfaces.Unsigned_64 is (0);

end Kit.Ticks;
