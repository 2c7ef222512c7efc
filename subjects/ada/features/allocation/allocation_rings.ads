--  Frames that allocate objects and keep them. The pointers go into a ring; Release deallocates what they point to
--  after the slice. The ring takes 65536 pointers, and no more than 128 MiB of objects: in a slice of more
--  iterations than that the oldest object is deallocated first, within the loop, and the figure is then that of
--  `new` and deallocation. The control frame does the same with null pointers

with Kit;

generic
   type Object (<>) is limited private;
   type Pointer is access Object;
   Bytes : Positive;
   with function Allocate return Pointer;
   with function Allocate_Nothing return Pointer;
package Allocation_Rings is

   procedure Prepare (Arg : Kit.Argument);
   --  Touches the ring

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Release (Arg : Kit.Argument);

end Allocation_Rings;
