--  Frames are timed here: slices, alone or in batches of blocks. Memory is taken and touched before any slice runs

with Ada.Unchecked_Deallocation;

private package Kit.Batches is

   type Slice_Role is (Reference, Control, Test);

   function Image (Role : Slice_Role) return String
   is (case Role is when Reference => "reference", when Control => "control", when Test => "test");

   type Slice is record
      Block                      : Natural     := 0;
      Role                       : Slice_Role  := Reference;
      Count                      : Iterations  := 0;
      Start, Elapsed             : Nanoseconds := 0;
      Voluntary, Involuntary     : Nanoseconds := 0;
      Minor_Faults, Major_Faults : Nanoseconds := 0;
      Wait                       : Nanoseconds := 0;    --  Resources.Unknown where the system does not tell
      Processor                  : Integer     := 0;    --  -1 where unknown
      Sum                        : Checksum    := 0;
   end record;

   type Slices is array (Positive range <>) of Slice;

   type Slices_Access is access Slices;

   Block_Count_Max : constant := 100_000;

   type Batch_Request is record
      Test                : Positive;     --  index in Registry.Tests
      Arg                 : Argument;
      Count               : Iterations;
      Blocks              : Positive;
      Reference_Count     : Iterations;   --  0: no reference slices
      Warm_Up             : Iterations;
   end record;

   procedure Run (Batch : Batch_Request; Results : out Slices_Access);
   --  Results are in order of time; the caller frees them. Threads.Report_At tells of the threads

   procedure Free is new Ada.Unchecked_Deallocation (Slices, Slices_Access);

   function One_Slice
     (Test : Positive; Role : Slice_Role; Arg : Argument; Count, Warm_Up : Iterations) return Slice;
   --  Leaves the test prepared for the next slice of it

end Kit.Batches;
