with Ada.Exceptions;
with Ada.Unchecked_Deallocation;
with GNAT.OS_Lib;
with Kit.Answers;
with Kit.Batches;
with Kit.Clocks;
with Kit.Latencies;
with Kit.Prepared;
with Kit.Registry;
with Kit.Requests; use Kit.Requests;
with Kit.Resources;
with Kit.Self_Tests;
with Kit.Series_Loops;
with Kit.Text;
with Kit.Threads;

package body Kit.Protocol is

   Iterations_Max : constant Checksum := Checksum (Iterations'Last);
   Argument_Max   : constant Checksum := Checksum (Argument'Last);

   Largest_Wait_Ns : constant := 10**15;   --  between two operations of a latency series: eleven days

   Shortest_Watch_Ns : constant := 10**6;
   Longest_Watch_Ns  : constant := 60 * 10**9;

   --  What a request asks for ---------------------------------------------------------------------------------------

   function Test_Of (Asked : Request; Kind : Registry.Test_Kind) return Positive is
      --  A test of this kind that can run here

      use type Registry.Test_Kind;

      Name : constant String  := Word (Asked, 1);
      Test : constant Natural := Registry.Find (Name);
   begin
      if Test = 0 then
         raise Unknown_Test with "there is no test " & Name & " here; `list` tells which there are";
      elsif Registry.Tests (Test).Kind /= Kind then
         raise Bad_Argument
           with Name & " is of kind " & Registry.Image (Registry.Tests (Test).Kind)
                & "; this request is for kind " & Registry.Image (Kind);
      elsif Registry.Tests (Test).Absent /= "" then
         raise Unsupported with Registry.Tests (Test).Absent;
      end if;
      return Test;
   end Test_Of;

   function Arg_Of (Asked : Request; Test : Positive) return Argument is
      Takes_One : constant Boolean := Registry.Tests (Test).Arg_Unit /= "";
   begin
      if Takes_One then
         return Argument (Field (Asked, "arg", 0, Argument_Max));
      elsif Has (Asked, "arg") then
         raise Bad_Argument with Word (Asked, 1) & " takes no argument";
      else
         return 0;
      end if;
   end Arg_Of;

   function Iterations_Of (Asked : Request; Key : String; Least : Checksum) return Iterations
   is (Iterations (Field (Asked, Key, Least, Iterations_Max)));

   --  The requests, one procedure each ------------------------------------------------------------------------------

   procedure Hello (Asked : Request) is
   begin
      Check_Word_Count (Asked, 1, "hello 1");
      if Word (Asked, 1) /= "1" then
         raise Wrong_Version with "speaks 1";
      end if;
      Answers.Put_Hello;
   end Hello;

   procedure List (Asked : Request) is
   begin
      Check_Word_Count (Asked, 0, "list");
      Answers.Put_List;
   end List;

   function Clock_Of (Asked : Request) return Positive is
      Which : constant Natural := Clocks.Find (Word (Asked, 1));
   begin
      if Which = 0 then
         raise Unknown_Clock with "there is no clock " & Word (Asked, 1) & " here; `list` tells which there are";
      end if;
      return Which;
   end Clock_Of;

   procedure Clock (Asked : Request) is
   begin
      Check_Word_Count (Asked, 2, "clock NAME COUNT");
      declare
         Which    : constant Positive := Clock_Of (Asked);
         Length   : constant Checksum := Number (Word (Asked, 2), "COUNT", 1, Clocks.Series_Length_Max);
         Readings : Clocks.Series_Access;
      begin
         Readings := Clocks.New_Series (Positive (Length));
         Threads.Forget_Reports;
         Threads.Report_Main;
         Clocks.Read (Which, Readings.all);
         Threads.Report_Main;
         Answers.Put_Readings (Readings.all);
         Answers.Put_Threads;
         Series_Loops.Free (Readings);
      end;
   end Clock;

   procedure Gaps (Asked : Request) is
      procedure Free is new Ada.Unchecked_Deallocation (Clocks.Gap_Loop, Clocks.Gap_Loop_Access);
   begin
      Check_Word_Count (Asked, 1, "gaps NAME time=NS over=D");
      declare
         Which         : constant Positive := Clock_Of (Asked);
         Time          : constant Checksum := Field (Asked, "time", Shortest_Watch_Ns, Longest_Watch_Ns);
         Over          : constant Checksum := Field (Asked, "over", 0, Checksum (Nanoseconds'Last));
         Seen          : Clocks.Gap_Loop_Access := new Clocks.Gap_Loop;
         Before, After : Resources.Snapshot;
      begin
         Threads.Forget_Reports;
         Threads.Report_Main;
         Resources.Take (Before);
         Clocks.Watch (Which, Nanoseconds (Time), Nanoseconds (Over), Seen.all);
         Resources.Take (After);
         Threads.Report_Main;
         Answers.Put_Gaps (Seen.all, Wait => Resources.Wait_Between (Before, After));
         Answers.Put_Threads;
         Free (Seen);
      end;
   end Gaps;

   Placed : Boolean := False;

   procedure Placement (Asked : Request) is
      Form : constant String := "placement same P | across P Q | free";

      function Processor (Position : Positive) return Natural
      is (Natural (Number (Word (Asked, Position), "a processor's number", 0, 65_535)));

   begin
      if Natural (Asked.Words.Length) < 2 then
         raise Bad_Argument with "the request is: " & Form;
      elsif Placed then
         raise Bad_Argument with "placement was asked for before; start the subject anew for another";
      elsif Word (Asked, 1) = "same" then
         Check_Word_Count (Asked, 2, Form);
         Threads.Place_Same (Processor (2));
      elsif Word (Asked, 1) = "across" then
         Check_Word_Count (Asked, 3, Form);
         Threads.Place_Across (Main => Processor (2), Partners => Processor (3));
      elsif Word (Asked, 1) = "free" then
         Check_Word_Count (Asked, 1, Form);
      else
         raise Bad_Argument with "the request is: " & Form;
      end if;
      Placed := True;
   exception
      when Error : Threads.Not_Permitted =>
         raise Unsupported with Ada.Exceptions.Exception_Message (Error);
   end Placement;

   procedure Batch (Asked : Request) is
   begin
      Check_Word_Count (Asked, 1, "batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]");
      declare
         Test    : constant Positive := Test_Of (Asked, Registry.Frame_Test);
         Wanted  : constant Batches.Batch_Request :=
           (Test            => Test,
            Arg             => Arg_Of (Asked, Test),
            Count           => Iterations_Of (Asked, "iterations", Least => 1),
            Blocks          => Positive (Field (Asked, "blocks", 1, Batches.Block_Count_Max)),
            Reference_Count => Iterations_Of (Asked, "reference", Least => 0),
            Warm_Up         => Iterations_Of (Asked, "warmup", Least => 0));
         Results : Batches.Slices_Access;
      begin
         Batches.Run (Wanted, Results);
         Text.End_Tests_Own_Lines;
         Answers.Put_Slices (Results.all);
         Answers.Put_Threads;
         Batches.Free (Results);
      end;
   end Batch;

   function Role_Of (Asked : Request) return Batches.Slice_Role is
   begin
      for Role in Batches.Slice_Role loop
         if Word (Asked, 2) = Batches.Image (Role) then
            return Role;
         end if;
      end loop;
      raise Bad_Argument with "the role of a slice is control, test or reference, not " & Word (Asked, 2);
   end Role_Of;

   procedure Slice (Asked : Request) is
   begin
      Check_Word_Count (Asked, 2, "slice NAME ROLE iterations=N warmup=W [arg=A]");
      declare
         Test   : constant Positive := Test_Of (Asked, Registry.Frame_Test);
         Result : constant Batches.Slice :=
           Batches.One_Slice
             (Test    => Test,
              Role    => Role_Of (Asked),
              Arg     => Arg_Of (Asked, Test),
              Count   => Iterations_Of (Asked, "iterations", Least => 1),
              Warm_Up => Iterations_Of (Asked, "warmup", Least => 0));
      begin
         Text.End_Tests_Own_Lines;
         Answers.Put_Slice (Result);
      end;
   end Slice;

   procedure Latency (Asked : Request) is
   begin
      Check_Word_Count (Asked, 1, "latency NAME count=C interval=T [arg=A]");
      declare
         Test    : constant Positive := Test_Of (Asked, Registry.Latency_Test);
         Arg     : constant Argument := Arg_Of (Asked, Test);
         Count   : constant Checksum := Field (Asked, "count", 1, Latencies.Count_Max);
         Results : Latencies.Operations_Access;
      begin
         Latencies.Run
           (Test, Arg, Positive (Count), Nanoseconds (Field (Asked, "interval", 0, Largest_Wait_Ns)), Results);
         Text.End_Tests_Own_Lines;
         Answers.Put_Samples (Results.all);
         Answers.Put_Threads;
         Latencies.Free (Results);
      end;
   end Latency;

   procedure Series (Asked : Request) is
   begin
      Check_Word_Count (Asked, 1, "series NAME count=C [arg=A]");
      declare
         Test      : constant Positive := Test_Of (Asked, Registry.Series_Test);
         Arg       : constant Argument := Arg_Of (Asked, Test);
         Count     : constant Checksum := Field (Asked, "count", 1, Series_Loops.Count_Max);
         Readings  : Clocks.Series_Access;
         Completed : Natural;
         Exhausted : Boolean;
      begin
         Series_Loops.Run (Test, Arg, Positive (Count), Readings, Completed, Exhausted);
         Text.End_Tests_Own_Lines;
         Answers.Put_Readings (Readings (1 .. Completed + 1));
         Answers.Put_Outcome (Completed, Exhausted);
         Answers.Put_Threads;
         Series_Loops.Free (Readings);
      end;
   end Series;

   procedure Usage (Asked : Request) is
   begin
      Check_Word_Count (Asked, 0, "usage");
      Answers.Put_Usage;
   end Usage;

   --  Serving -------------------------------------------------------------------------------------------------------

   procedure Dispatch (Asked : Request; Goes_On : in out Boolean) is
      Name : constant String := Verb (Asked);
   begin
      if Name = "hello" then
         Hello (Asked);
      elsif Name = "list" then
         List (Asked);
      elsif Name = "clock" then
         Clock (Asked);
      elsif Name = "gaps" then
         Gaps (Asked);
      elsif Name = "placement" then
         Placement (Asked);
      elsif Name = "batch" then
         Batch (Asked);
      elsif Name = "slice" then
         Slice (Asked);
      elsif Name = "latency" then
         Latency (Asked);
      elsif Name = "series" then
         Series (Asked);
      elsif Name = "usage" then
         Usage (Asked);
      elsif Name = "quit" then
         Check_Word_Count (Asked, 0, "quit");
         Goes_On := False;
      else
         raise Unknown_Request with "there is no request " & Name;
      end if;
   end Dispatch;

   procedure Answer (Line : String; Goes_On : in out Boolean) is
      use Ada.Exceptions;
   begin
      Dispatch (Parsed (Line), Goes_On);
      Answers.Close;
   exception
      when Text.Reader_Is_Gone =>
         raise;
      when Error : Wrong_Version =>
         Answers.Close_With_Error ("version", Exception_Message (Error));
      when Error : Unknown_Request =>
         Answers.Close_With_Error ("unknown-request", Exception_Message (Error));
      when Error : Unknown_Test =>
         Answers.Close_With_Error ("unknown-test", Exception_Message (Error));
      when Error : Unknown_Clock =>
         Answers.Close_With_Error ("unknown-clock", Exception_Message (Error));
      when Error : Bad_Argument =>
         Answers.Close_With_Error ("bad-argument", Exception_Message (Error));
      when Error : Unsupported =>
         Answers.Close_With_Error ("unsupported", Exception_Message (Error));
      when Error : others =>
         Text.End_Tests_Own_Lines;
         Answers.Close_With_Error ("failed", Exception_Name (Error) & ": " & Exception_Message (Error));
   end Answer;

   procedure Serve_Until_Quit is
      Line    : String (1 .. Text.Request_Length_Max);
      Last    : Natural;
      Status  : Text.Line_Status;
      Goes_On : Boolean := True;
   begin
      while Goes_On loop
         Text.Get_Line (Line, Last, Status);
         case Status is
            when Text.Ended =>
               Goes_On := False;
            when Text.Overlong =>
               Answers.Close_With_Error
                 ("bad-argument", "a request line is at most" & Natural'Image (Text.Request_Length_Max) & " bytes");
            when Text.Complete =>
               Answer (Line (1 .. Last), Goes_On);
         end case;
      end loop;
   end Serve_Until_Quit;

   procedure Serve is
   begin
      Self_Tests.Register;
      Serve_Until_Quit;
      Prepared.Give_Up;
      GNAT.OS_Lib.OS_Exit (0);
   exception
      when Text.Reader_Is_Gone =>
         GNAT.OS_Lib.OS_Exit (1);
   end Serve;

end Kit.Protocol;
