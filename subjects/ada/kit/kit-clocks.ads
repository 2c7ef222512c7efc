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

   --  Gaps ----------------------------------------------------------------------------------------------------------

   Kept_Gaps_Max : constant := 200_000;

   type Gap is record
      Start    : Nanoseconds := 0;   --  the reading before it, since the first one of the loop
      Duration : Nanoseconds := 0;
   end record;

   type Gaps is array (Positive range 1 .. Kept_Gaps_Max) of Gap;

   type Gap_Loop is record
      Kept     : Gaps;               --  the first of them; the defaults touch every page
      Readings : Nanoseconds := 0;
      Elapsed  : Nanoseconds := 0;
      Count    : Nanoseconds := 0;   --  all gaps, also those that are not kept
      Lost     : Nanoseconds := 0;   --  the sum of all
   end record;

   type Gap_Loop_Access is access Gap_Loop;

   procedure Watch (Clock : Positive; Time, Over : Nanoseconds; Seen : in out Gap_Loop);
   --  Reads in a tight loop for Time ns of the subject's own clock and keeps only the first differences above Over

end Kit.Clocks;
