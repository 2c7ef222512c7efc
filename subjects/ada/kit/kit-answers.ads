--  The lines of answers, one procedure a request that has data lines

with Kit.Batches;
with Kit.Clocks;
with Kit.Latencies;

private package Kit.Answers is

   procedure Put_Hello;
   procedure Put_List;
   procedure Put_Usage;

   procedure Put_Readings (Readings : Clocks.Series);
   procedure Put_Gaps (Seen : Clocks.Gap_Loop; Wait : Nanoseconds);
   --  Wait: Resources.Unknown where the system does not tell

   procedure Put_Outcome (Completed : Natural; Exhausted : Boolean);

   procedure Put_Slice (Slice : Batches.Slice);
   procedure Put_Slices (Slices : Batches.Slices);
   procedure Put_Threads;
   --  What Kit.Threads gathered

   procedure Put_Samples (Operations : Latencies.Operations);

   procedure Close;
   --  @@ ok

   procedure Close_With_Error (Code, Text : String);

end Kit.Answers;
