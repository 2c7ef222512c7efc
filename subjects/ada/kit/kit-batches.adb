with Kit.Branches;
with Kit.Chain;
with Kit.Prepared;
with Kit.Registry;
with Kit.Resources;
with Kit.System_Calls;
with Kit.Threads;

package body Kit.Batches is

   procedure Time_Slice (Frame_To_Run : not null Frame; Result : in out Slice) is
      --  Result.Count is given. Between the two clock readings there is the frame and nothing else

      Before, After : Resources.Snapshot;
      Start, Ended  : Nanoseconds;
   begin
      Branches.Unlearn;
      Resources.Take (Before);
      Start := Now;
      Branches.Enter (Frame_To_Run, Result.Count, Result.Sum);
      Ended := Now;
      Resources.Take (After);
      Result.Processor := Integer (System_Calls.Sched_Getcpu);
      Result.Start := Start;
      Result.Elapsed := Ended - Start;
      Result.Voluntary := After.Voluntary - Before.Voluntary;
      Result.Involuntary := After.Involuntary - Before.Involuntary;
      Result.Minor_Faults := After.Minor_Faults - Before.Minor_Faults;
      Result.Major_Faults := After.Major_Faults - Before.Major_Faults;
      Result.Wait := Resources.Wait_Between (Before, After);
   end Time_Slice;

   function Frame_Of (Test : Positive; Role : Slice_Role) return Frame
   is (case Role is
         when Reference => Kit.Chain.Reference'Access,
         when Control   => Registry.Tests (Test).Action.Control,
         when Batches.Test => Registry.Tests (Test).Action.Test);

   procedure Run_Untimed (Test : Positive; Count : Iterations) is
      --  Control and test, while all threads report

      Ignored : Checksum;
   begin
      Threads.Start_Reporting;
      for Role in Control .. Batches.Test loop
         Frame_Of (Test, Role).all (Count, Ignored);
         Prepared.Reset;
      end loop;
      Threads.Stop_Reporting;
   end Run_Untimed;

   type Role_Order is array (Positive range <>) of Slice_Role;

   With_Reference    : constant Role_Order := (Reference, Control, Test, Test, Control, Reference);
   Without_Reference : constant Role_Order := (Control, Test, Test, Control);

   procedure Run_Block (Batch : Batch_Request; Block : Natural; Order : Role_Order; Results : in out Slices) is
      Place : Positive := Results'First + Block * Order'Length;
   begin
      for Role of Order loop
         Results (Place).Block := Block;
         Results (Place).Role := Role;
         Results (Place).Count := (if Role = Reference then Batch.Reference_Count else Batch.Count);
         Time_Slice (Frame_Of (Batch.Test, Role), Results (Place));
         Prepared.Reset;
         Place := Place + 1;
      end loop;
   end Run_Block;

   procedure Run (Batch : Batch_Request; Results : out Slices_Access) is
      Order : constant Role_Order := (if Batch.Reference_Count > 0 then With_Reference else Without_Reference);
   begin
      Results := new Slices (1 .. Batch.Blocks * Order'Length);   --  the components' defaults touch every page
      Threads.Forget_Reports;
      Prepared.Prepare (Batch.Test, Batch.Arg);
      Run_Untimed (Batch.Test, Batch.Warm_Up);
      for Block in 0 .. Batch.Blocks - 1 loop
         Run_Block (Batch, Block, Order, Results.all);
      end loop;
      Run_Untimed (Batch.Test, 1);
      Prepared.Finish;
   exception
      when others =>
         Prepared.Give_Up;
         Free (Results);
         raise;
   end Run;

   function One_Slice
     (Test : Positive; Role : Slice_Role; Arg : Argument; Count, Warm_Up : Iterations) return Slice
   is
      To_Run  : constant Frame := Frame_Of (Test, Role);
      Result  : Slice := (Role => Role, Count => Count, others => <>);
      Ignored : Checksum;
   begin
      Prepared.Prepare_Unless_Ready (Test, Arg);
      if Warm_Up > 0 then
         To_Run.all (Warm_Up, Ignored);
         Prepared.Reset;
      end if;
      Time_Slice (To_Run, Result);
      Prepared.Reset;
      return Result;
   exception
      when others =>
         Prepared.Give_Up;
         raise;
   end One_Slice;

end Kit.Batches;
