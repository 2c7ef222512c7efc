--  Storage loops (loop L4 of the method): a clock reading after each turn, until all are done or storage is refused

with Ada.Unchecked_Deallocation;
with Kit.Clocks;

private package Kit.Series_Loops is

   Count_Max : constant := 10_000_000;

   procedure Run
     (Test      : Positive;
      Arg       : Argument;
      Count     : Positive;
      Readings  : out Clocks.Series_Access;
      Completed : out Natural;
      Exhausted : out Boolean);
   --  Readings (1 .. Completed + 1): before the first turn and after each. All storage of the test has been given back;
   --  the caller frees Readings

   procedure Free is new Ada.Unchecked_Deallocation (Clocks.Series, Clocks.Series_Access);

end Kit.Series_Loops;
