--  What the processor has learnt about branches, on processors for which the kit has no way to make it forget.
--  There, frames of a few nanoseconds may settle at different speeds: see the x86_64 version

private package Kit.Branches is

   procedure Unlearn is null;

   procedure Enter (Frame_To_Run : not null Frame; Count : Iterations; Sum : out Checksum);
   --  Runs the frame by an ordinary call

end Kit.Branches;
