--  The clocks that can be read in series: those of Ada, those of POSIX, and the processor's counter

package Kit.Clocks is

   Series_Length_Max : constant := 1_000_000;

   type Series is array (Positive range <>) of Nanoseconds;
   --  Absolute readings in the clock's own unit

   type Series_Access is access Series;

   function New_Series (Length : Positive) return Series_Access;
   --  Every page has been touched. (An initialized allocator would build its aggregate on the stack)

   type Unit is (Ns, Ticks);

   subtype Clock_Count is Natural;

   function Count return Clock_Count;
   --  Clocks are numbered from 1 to Count

   function Name (Clock : Positive) return String;
   function Unit_Of (Clock : Positive) return Unit;

   function Find (Its_Name : String) return Natural;
   --  0 if there is none of this name

   procedure Read (Clock : Positive; Into : in out Series);
   --  Reads in a tight loop into memory that was touched before; conversion to the unit comes afterwards

end Kit.Clocks;
