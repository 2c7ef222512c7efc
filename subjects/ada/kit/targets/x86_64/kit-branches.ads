--  What the processor has learnt about branches.
--
--  A frame of a few nanoseconds is a loop of taken branches, and on today's processors it has several stable
--  speeds: one with two calls runs at 5 or at 7 cycles an iteration, for thousands of slices on end, by what the
--  predictor learnt when the loop was first seen. Control and test that settle differently give costs of -0.7 or
--  +0.7 ns where there are none. After some thousand branches that cannot be predicted every frame settles alike.

private package Kit.Branches is

   procedure Unlearn;
   --  Untimed, before each slice; some microseconds

end Kit.Branches;
