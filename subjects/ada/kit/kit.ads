--  What a test of the Ada subject is made of.
--
--  A feature area is a library package Features_<Area> in features/ with one procedure, Register, which calls the
--  Register_ procedures below in the order in which its tests are to be listed. The main program features.adb
--  calls each area's Register; then Kit.Protocol serves the requests of docs/reference/subject-protocol.md. Frames and hooks are
--  library-level subprograms. Bodies are compiled apart and without inlining across units, so that nothing in a frame
--  can be folded.
--
--  Of the children, Kit.System_Calls (thin binding to Linux) and Kit.Ticks (processor counter) are for tests too;
--  the others are the kit's own.

package Kit is

   type Iterations is range 0 .. 2**63 - 1;

   type Checksum is mod 2**64;

   type Argument is range 0 .. 2**63 - 1;
   --  The numeric argument of a test (bytes, nanoseconds, a count); 0 where it takes none

   type Nanoseconds is range -2**63 .. 2**63 - 1;

   procedure Increment (Index : in out Iterations);
   --  The paper's hidden increment: loops count with it so that no compiler sees their end

   --  Frames: control and test loops --------------------------------------------------------------------------------

   type Frame is access procedure (Count : Iterations; Sum : out Checksum);
   --  Runs its loop Count times; Sum depends on all the work done. Timed: no output, no set-up

   type Hook is access procedure (Arg : Argument);
   --  Untimed work around frames; null where there is none

   type Switches is digits 6;

   Undeclared : constant Switches := -1.0;

   procedure Register_Frame
     (Name     : String;
      Control  : Frame;
      Test     : Frame;
      Prepare  : Hook     := null;       --  before the warm-up of a batch: start partner tasks
      Reset    : Hook     := null;       --  after each slice: give storage back
      Finish   : Hook     := null;       --  after the last slice of a batch: end partner tasks
      Expected : Switches := Undeclared; --  context switches per operation when all share one processor, see `switches`
      Threads  : Positive := 1;
      Work     : String   := "";         --  key of equal work across subjects
      Arg_Unit : String   := "");        --  "ns", "bytes", "count"

   --  Latency tests: a start and an end for each operation ----------------------------------------------------------

   type Sample is record
      Actual  : Nanoseconds;
      Ended   : Nanoseconds;
   end record;

   type Operation is access procedure (Result : out Sample);

   procedure Register_Latency
     (Name     : String;
      Operate  : Operation;
      Prepare  : Hook     := null;
      Finish   : Hook     := null;
      Threads  : Positive := 1;         --  if more than one, the others report too
      Arg_Unit : String   := "");

   --  Series: storage loops with a clock reading after each turn ----------------------------------------------------

   type Turn is access procedure (Index : Iterations);
   --  One turn of the storage loop (Index counts from 1); Storage_Error ends the loop

   procedure Register_Series
     (Name     : String;
      One_Turn : Turn;
      Prepare  : Hook   := null;
      Release  : Hook   := null;        --  gives back all that was taken
      Arg_Unit : String := "bytes");

   --  Tests that cannot run here ------------------------------------------------------------------------------------

   procedure Register_Absent (Name, Kind, Reason : String; Work : String := "");
   --  Work groups it with the tests of others that do the same, as that of a test which is there

   --  For tests and the threads they start --------------------------------------------------------------------------

   function Now return Nanoseconds;
   --  The subject's clock: CLOCK_MONOTONIC, without allocation or conversion

   procedure Thread_Begins (Role : String := "partner");
   --  Called first by every task that a test starts: moves it to its processor (placement) and, in untimed iterations,
   --  reports its policy, priority and processor. In timed ones it costs two tests of variables, unless placement is
   --  `across`: then the move is part of the operation

   procedure Thread_Reports (Role : String := "partner");
   --  Called by a long-lived partner at each operation if Reporting is true

   function Partners_Elsewhere return Boolean;
   --  True where partners have a processor of their own (placement `across`)

   function Reporting return Boolean with Inline_Always;
   --  True in untimed iterations only

   --  For programs that count context switches themselves -----------------------------------------------------------

   type Switch_Counter is access function return Nanoseconds;

   Own_Switches : Switch_Counter := null;
   --  If it is set before requests are served, slices carry what it counts as voluntary switches, and no involuntary
   --  ones, in place of the system's count; hello says so

private

   Untimed : Boolean := False with Atomic;
   --  Set by the kit around untimed iterations

   function Reporting return Boolean is (Untimed);

end Kit;
