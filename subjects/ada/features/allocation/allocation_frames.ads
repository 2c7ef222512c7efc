--  The frame of allocations that end with a subprogram

with Kit;

package Allocation_Frames is

   generic
      with procedure Enter;
   procedure Entering (Count : Kit.Iterations; Sum : out Kit.Checksum);

end Allocation_Frames;
