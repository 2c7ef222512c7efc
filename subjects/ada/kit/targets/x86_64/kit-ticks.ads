--  The processor's own counter: the time-stamp counter of x86

with Interfaces;

package Kit.Ticks is

   Available : constant Boolean := True;

   function Read return Interfaces.Unsigned_64
     with Import, Convention => Intrinsic, External_Name => "__builtin_ia32_rdtsc";

end Kit.Ticks;
