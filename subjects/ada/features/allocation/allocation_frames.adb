package body Allocation_Frames is

   use type Kit.Iterations;

   procedure Entering (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      while Index < Count loop
         Enter;
         Kit.Increment (Index);
      end loop;
      Sum := Kit.Checksum (Index);
   end Entering;

end Allocation_Frames;
