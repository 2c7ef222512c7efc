with Kit.Registry;
with Kit.Resources;
with Kit.System_Calls;
with Kit.Text;
with Kit.Threads;

package body Kit.Answers is

   function Image (Value : Nanoseconds) return String renames Text.Image;

   function Known (Value : Nanoseconds) return String
   is (if Value < 0 then "-" else Image (Value));

   procedure Put_Hello is
   begin
      Text.Put_Line
        ("@@ hello protocol=1 language=Ada kit=1.0 clock=CLOCK_MONOTONIC"
         & (if Own_Switches = null then "" else " switches=own"));
   end Put_Hello;

   --  list ----------------------------------------------------------------------------------------------------------

   procedure Put_Field (Key, Value : String) is
   begin
      if Value /= "" then
         Text.Put (" " & Key & "=" & Text.Escaped (Value));
      end if;
   end Put_Field;

   function Switches_Image (Expected : Switches) return String is
      --  Whole numbers as such, others with the fraction that they have

      Thousandths : constant Iterations := Iterations (Expected * 1000.0);
      Whole       : constant Iterations := Thousandths / 1000;
      Fraction    : constant Iterations := Thousandths mod 1000;
      Decimals    : constant String := Text.Image (1000 + Fraction);
   begin
      return Text.Image (Whole) & (if Fraction = 0 then "" else "." & Decimals (Decimals'First + 1 .. Decimals'Last));
   end Switches_Image;

   procedure Put_Test (Test : Registry.Entry_Of_Test) is
      use type Registry.Test_Kind;
   begin
      Text.Put ("@@ test name=" & Test.Name & " kind=" & Registry.Image (Test.Kind));
      Put_Field ("arg", Test.Arg_Unit);
      if Test.Kind = Registry.Frame_Test and then Test.Action.Expected >= 0.0 then
         Put_Field ("switches", Switches_Image (Test.Action.Expected));
      end if;
      if Test.Action.Threads > 1 then
         Put_Field ("threads", Image (Nanoseconds (Test.Action.Threads)));
      end if;
      Put_Field ("work", Test.Work);
      Put_Field ("absent", Test.Absent);
      Text.End_Line;
   end Put_Test;

   procedure Put_List is
   begin
      for Clock in 1 .. Clocks.Count loop
         Text.Put_Line
           ("@@ clock name=" & Clocks.Name (Clock)
            & " unit=" & (case Clocks.Unit_Of (Clock) is when Clocks.Ns => "ns", when Clocks.Ticks => "ticks"));
      end loop;
      for Test of Registry.Tests loop
         Put_Test (Test);
      end loop;
   end Put_List;

   --  usage ---------------------------------------------------------------------------------------------------------

   procedure Put_Usage is
      Usage : constant Resources.Usage_Report := Resources.Usage;
   begin
      Text.Put_Line
        ("@@ usage user=" & Image (Usage.User) & " system=" & Image (Usage.System)
         & " peak_rss=" & Image (Usage.Peak_Rss_Bytes)
         & " minor=" & Image (Usage.Minor_Faults) & " major=" & Image (Usage.Major_Faults)
         & " voluntary=" & Image (Usage.Voluntary) & " involuntary=" & Image (Usage.Involuntary)
         & " threads=" & Image (Nanoseconds (Usage.Threads)));
   end Put_Usage;

   --  clock, series -------------------------------------------------------------------------------------------------

   Readings_Per_Line : constant := 2_000;
   --  A line is at most 65536 bytes: 21 of a difference is the longest, and the mark comes before

   procedure Put_Readings (Readings : Clocks.Series) is
   begin
      for I in Readings'Range loop
         if (I - Readings'First) mod Readings_Per_Line = 0 then
            if I > Readings'First then
               Text.End_Line;
            end if;
            Text.Put ("@@ readings " & Image (Readings (I)));
         else
            Text.Put (" " & Image (Readings (I) - Readings (I - 1)));
         end if;
      end loop;
      Text.End_Line;
   end Put_Readings;

   procedure Put_Gaps (Seen : Clocks.Gap_Loop; Wait : Nanoseconds) is
   begin
      for Gap of Seen.Kept (1 .. Positive'Base (Nanoseconds'Min (Seen.Count, Seen.Kept'Length))) loop
         Text.Put_Line ("@@ gap " & Image (Gap.Start) & ' ' & Image (Gap.Duration));
      end loop;
      Text.Put_Line
        ("@@ loop readings=" & Image (Seen.Readings) & " elapsed=" & Image (Seen.Elapsed) & " wait=" & Known (Wait)
         & " gaps=" & Image (Seen.Count) & " lost=" & Image (Seen.Lost));
   end Put_Gaps;

   procedure Put_Outcome (Completed : Natural; Exhausted : Boolean) is
   begin
      Text.Put_Line
        ("@@ outcome completed=" & Image (Nanoseconds (Completed))
         & (if Exhausted then " end=exhausted text=STORAGE_ERROR" else " end=count"));
   end Put_Outcome;

   --  batch, slice --------------------------------------------------------------------------------------------------

   procedure Put_Slice (Slice : Batches.Slice) is
   begin
      Text.Put_Line
        ("@@ slice " & Image (Nanoseconds (Slice.Block)) & ' ' & Batches.Image (Slice.Role)
         & ' ' & Text.Image (Slice.Count) & ' ' & Image (Slice.Start) & ' ' & Image (Slice.Elapsed)
         & ' ' & Image (Slice.Voluntary) & ' ' & Image (Slice.Involuntary)
         & ' ' & Image (Slice.Minor_Faults) & ' ' & Image (Slice.Major_Faults)
         & ' ' & Known (Slice.Wait) & ' ' & Known (Nanoseconds (Slice.Processor))
         & ' ' & Text.Image (Slice.Sum));
   end Put_Slice;

   procedure Put_Slices (Slices : Batches.Slices) is
   begin
      for Slice of Slices loop
         Put_Slice (Slice);
      end loop;
   end Put_Slices;

   function Policy_Image (Policy : Integer) return String
   is (if Policy = Integer (System_Calls.Sched_Other) then "other"
       elsif Policy = Integer (System_Calls.Sched_Fifo) then "fifo"
       elsif Policy = Integer (System_Calls.Sched_RR) then "rr"
       else Image (Nanoseconds (Policy)));

   procedure Put_Threads is
   begin
      for I in 1 .. Threads.Report_Count loop
         declare
            Thread : constant Threads.Thread_Report := Threads.Report_At (I);
         begin
            Text.Put_Line
              ("@@ thread role=" & Text.Escaped (Thread.Role (1 .. Thread.Role_Length))
               & " policy=" & Policy_Image (Thread.Policy)
               & " priority=" & Image (Nanoseconds (Thread.Priority))
               & " processor=" & Image (Nanoseconds (Thread.Processor))
               & " allowed=" & Thread.Allowed (1 .. Thread.Allowed_Length)
               & " count=" & Image (Nanoseconds (Thread.Count)));
         end;
      end loop;
   end Put_Threads;

   --  latency -------------------------------------------------------------------------------------------------------

   procedure Put_Samples (Operations : Latencies.Operations) is
   begin
      for Operation of Operations loop
         Text.Put_Line
           ("@@ sample " & Image (Operation.Intended)
            & ' ' & Image (Operation.Taken.Actual) & ' ' & Image (Operation.Taken.Ended));
      end loop;
   end Put_Samples;

   --  Closing lines -------------------------------------------------------------------------------------------------

   procedure Close is
   begin
      Text.Put_Line ("@@ ok");
      Text.Flush;
   end Close;

   procedure Close_With_Error (Code, Text : String) is
   begin
      Kit.Text.Put_Line ("@@ error " & Code & " " & Kit.Text.On_One_Line (Text));
      Kit.Text.Flush;
   end Close_With_Error;

end Kit.Answers;
