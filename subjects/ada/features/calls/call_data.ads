--  The parameters of all call tests

with Call_Cells;
with Kit;

package Call_Data is

   type Colour is (Red, Green, Blue);

   package Integer_Cells is new Call_Cells (Integer);
   package Colour_Cells is new Call_Cells (Colour);

   --  Composite types are named by their size in bytes

   type Array_8 is array (1 .. 2) of Integer;
   type Array_64 is array (1 .. 16) of Integer;
   type Array_512 is array (1 .. 128) of Integer;
   type Array_4096 is array (1 .. 1024) of Integer;

   type Unconstrained is array (Positive range <>) of Integer;

   type Record_8 is record
      First : Integer;
      Rest  : Unconstrained (1 .. 1);
   end record;

   type Record_64 is record
      First : Integer;
      Rest  : Unconstrained (1 .. 15);
   end record;

   type Record_512 is record
      First : Integer;
      Rest  : Unconstrained (1 .. 127);
   end record;

   type Record_4096 is record
      First : Integer;
      Rest  : Unconstrained (1 .. 1023);
   end record;

   Actual_Array_8    : Array_8    := (others => 0);
   Actual_Array_64   : Array_64   := (others => 0);
   Actual_Array_512  : Array_512  := (others => 0);
   Actual_Array_4096 : Array_4096 := (others => 0);

   Actual_Record_8    : Record_8    := (0, (others => 0));
   Actual_Record_64   : Record_64   := (0, (others => 0));
   Actual_Record_512  : Record_512  := (0, (others => 0));
   Actual_Record_4096 : Record_4096 := (0, (others => 0));

   Actual_Unconstrained_8    : Unconstrained (1 .. 2)    := (others => 0);
   Actual_Unconstrained_64   : Unconstrained (1 .. 16)   := (others => 0);
   Actual_Unconstrained_512  : Unconstrained (1 .. 128)  := (others => 0);
   Actual_Unconstrained_4096 : Unconstrained (1 .. 1024) := (others => 0);

   procedure Restore (Arg : Kit.Argument := 0);
   --  The values that every slice starts from: called before the first slice and after each

   function Digest (Index : Kit.Iterations) return Kit.Checksum;
   --  What a frame returns: depends on the iterations done and on what the callees left

end Call_Data;
