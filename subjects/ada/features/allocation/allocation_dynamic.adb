with Allocation_Frames;
with Allocation_Rings;
with Dynamic_Arrays; use Dynamic_Arrays;
with Kit;            use Kit;

package body Allocation_Dynamic is

   --  Bounds --------------------------------------------------------------------------------------------------------

   procedure Bound_By_1 (Arg : Argument) is
      pragma Unreferenced (Arg);
   begin
      High := 1;
   end Bound_By_1;

   procedure Bound_By_10 (Arg : Argument) is
      pragma Unreferenced (Arg);
   begin
      High := 10;
   end Bound_By_10;

   --  In a procedure ------------------------------------------------------------------------------------------------

   procedure Enter_Nothing is new Allocation_Frames.Entering (Nothing);
   procedure Enter_1 is new Allocation_Frames.Entering (Declare_1);
   procedure Enter_2 is new Allocation_Frames.Entering (Declare_2);
   procedure Enter_3 is new Allocation_Frames.Entering (Declare_3);

   --  In a block of the loop ----------------------------------------------------------------------------------------

   procedure No_Block (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         Increment (Index);
      end loop;
      Sum := Checksum (Index);
   end No_Block;

   procedure Block_1 (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         declare
            Object : Array_1 (Low .. High);
         begin
            Hold (Object'Address);
         end;
         Increment (Index);
      end loop;
      Sum := Checksum (Index);
   end Block_1;

   procedure Block_2 (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         declare
            Object : Array_2 (Low .. High, Low .. High);
         begin
            Hold (Object'Address);
         end;
         Increment (Index);
      end loop;
      Sum := Checksum (Index);
   end Block_2;

   procedure Block_3 (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         declare
            Object : Array_3 (Low .. High, Low .. High, Low .. High);
         begin
            Hold (Object'Address);
         end;
         Increment (Index);
      end loop;
      Sum := Checksum (Index);
   end Block_3;

   --  By new --------------------------------------------------------------------------------------------------------

   package Ring_1 is new Allocation_Rings (Array_1, Array_1_Access, 48, New_1, No_1);
   package Ring_2 is new Allocation_Rings (Array_2, Array_2_Access, 416, New_2, No_2);
   package Ring_3 is new Allocation_Rings (Array_3, Array_3_Access, 4024, New_3, No_3);
   --  The sizes are those of the larger range, with the bounds that GNAT keeps beside the components

   generic
      with procedure Set_Bounds (Arg : Argument);
      with procedure Prepare_Ring (Arg : Argument);
   procedure Prepare (Arg : Argument);

   procedure Prepare (Arg : Argument) is
   begin
      Set_Bounds (Arg);
      Prepare_Ring (Arg);
   end Prepare;

   procedure Prepare_1_By_1 is new Prepare (Bound_By_1, Ring_1.Prepare);
   procedure Prepare_2_By_1 is new Prepare (Bound_By_1, Ring_2.Prepare);
   procedure Prepare_3_By_1 is new Prepare (Bound_By_1, Ring_3.Prepare);
   procedure Prepare_1_By_10 is new Prepare (Bound_By_10, Ring_1.Prepare);
   procedure Prepare_2_By_10 is new Prepare (Bound_By_10, Ring_2.Prepare);
   procedure Prepare_3_By_10 is new Prepare (Bound_By_10, Ring_3.Prepare);

   --  Registration --------------------------------------------------------------------------------------------------

   procedure Register_Regions
     (Place : String; Control, Test_1, Test_2, Test_3 : not null Frame)
   is
      procedure Register_Both_Ranges (Dimensions : String; Test : not null Frame);

      procedure Register_Both_Ranges (Dimensions : String; Test : not null Frame) is
         Name : constant String := "alloc.dynamic." & Place & '.' & Dimensions;
      begin
         Register_Frame (Name & ".1", Control, Test, Prepare => Bound_By_1'Access);
         Register_Frame (Name & ".10", Control, Test, Prepare => Bound_By_10'Access);
      end Register_Both_Ranges;

   begin
      Register_Both_Ranges ("1d", Test_1);
      Register_Both_Ranges ("2d", Test_2);
      Register_Both_Ranges ("3d", Test_3);
   end Register_Regions;

   procedure Register_New
     (Dimensions : String; Control, Test : not null Frame; Prepare_By_1, Prepare_By_10, Release : not null Hook) is
   begin
      Register_Frame ("alloc.new." & Dimensions & ".1", Control, Test, Prepare => Prepare_By_1, Reset => Release);
      Register_Frame ("alloc.new." & Dimensions & ".10", Control, Test, Prepare => Prepare_By_10, Reset => Release);
   end Register_New;

   procedure Register is
   begin
      Register_Regions ("subprogram", Enter_Nothing'Access, Enter_1'Access, Enter_2'Access, Enter_3'Access);
      Register_Regions ("block", No_Block'Access, Block_1'Access, Block_2'Access, Block_3'Access);
      Register_New
        ("1d", Ring_1.Control'Access, Ring_1.Test'Access,
         Prepare_1_By_1'Access, Prepare_1_By_10'Access, Ring_1.Release'Access);
      Register_New
        ("2d", Ring_2.Control'Access, Ring_2.Test'Access,
         Prepare_2_By_1'Access, Prepare_2_By_10'Access, Ring_2.Release'Access);
      Register_New
        ("3d", Ring_3.Control'Access, Ring_3.Test'Access,
         Prepare_3_By_1'Access, Prepare_3_By_10'Access, Ring_3.Release'Access);
   end Register;

end Allocation_Dynamic;
