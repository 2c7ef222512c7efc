package body Call_Data is

   use type Kit.Checksum;

   procedure Restore (Arg : Kit.Argument := 0) is
      pragma Unreferenced (Arg);
   begin
      for I in Integer_Cells.Row'Range loop
         Integer_Cells.Actual (I) := I;
         Integer_Cells.Kept (I) := 1000 + I;
         Colour_Cells.Actual (I) := Red;
         Colour_Cells.Kept (I) := Green;
      end loop;
      Actual_Array_8 (1) := 1;
      Actual_Array_64 (1) := 1;
      Actual_Array_512 (1) := 1;
      Actual_Array_4096 (1) := 1;
      Actual_Record_8.First := 1;
      Actual_Record_64.First := 1;
      Actual_Record_512.First := 1;
      Actual_Record_4096.First := 1;
      Actual_Unconstrained_8 (1) := 1;
      Actual_Unconstrained_64 (1) := 1;
      Actual_Unconstrained_512 (1) := 1;
      Actual_Unconstrained_4096 (1) := 1;
   end Restore;

   function Digest (Index : Kit.Iterations) return Kit.Checksum is
   begin
      return
        Kit.Checksum (Index)
        + 3 * Kit.Checksum (Integer_Cells.Actual (1)) + 5 * Kit.Checksum (Integer_Cells.Kept (1))
        + 7 * Kit.Checksum (Integer_Cells.Actual (100)) + 11 * Kit.Checksum (Integer_Cells.Kept (100))
        + 13 * Colour'Pos (Colour_Cells.Actual (1)) + 17 * Colour'Pos (Colour_Cells.Kept (1))
        + 19 * Kit.Checksum
                 (Actual_Array_8 (1) + Actual_Array_64 (1) + Actual_Array_512 (1) + Actual_Array_4096 (1)
                  + Actual_Record_8.First + Actual_Record_64.First + Actual_Record_512.First
                  + Actual_Record_4096.First
                  + Actual_Unconstrained_8 (1) + Actual_Unconstrained_64 (1) + Actual_Unconstrained_512 (1)
                  + Actual_Unconstrained_4096 (1));
   end Digest;

end Call_Data;
