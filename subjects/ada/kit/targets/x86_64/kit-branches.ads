--  What the processor has learnt about branches, and how to keep it out of the figures.
--
--  A frame of a few nanoseconds is a loop of taken branches, and on today's processors it has several stable
--  speeds: one with two calls runs at 5 or at 7 cycles an iteration, for thousands of slices on end, by what the
--  predictor learnt when the loop was first seen. Control and test that settle differently give costs of -0.7 or
--  +0.7 ns where there are none. After some thousand branches that cannot be predicted every frame settles alike.

private package Kit.Branches is

   procedure Unlearn;
   --  Untimed, before each slice; some microseconds

   procedure Enter (Frame_To_Run : not null Frame; Count : Iterations; Sum : out Checksum);
   --  Runs the frame, by a call that the processor cannot have learnt. In the order control, test, test, control the
   --  second test slice is the only one that follows its own like, so a processor that predicts an indirect call from
   --  the last one would enter half of the test slices 10 ns faster than any control slice

   pragma Machine_Attribute (Enter, "naked");
   --  Its body is all that there is, in machine code

end Kit.Branches;
