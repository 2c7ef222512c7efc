--  Latency tests: operations that were meant to start at a steady interval

with Ada.Unchecked_Deallocation;

private package Kit.Latencies is

   Count_Max : constant := 10_000_000;

   type Timed_Operation is record
      Intended : Nanoseconds := 0;
      Taken    : Sample      := (0, 0);
   end record;

   type Operations is array (Positive range <>) of Timed_Operation;

   type Operations_Access is access Operations;

   procedure Run
     (Test : Positive; Arg : Argument; Count : Positive; Interval : Nanoseconds; Results : out Operations_Access);
   --  Interval 0: each operation is meant to start when the one before has ended. The caller frees Results;
   --  Threads.Report_At tells of the threads, which report in an untimed operation before and after

   procedure Free is new Ada.Unchecked_Deallocation (Operations, Operations_Access);

end Kit.Latencies;
