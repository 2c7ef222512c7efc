with Ada.Synchronous_Task_Control; use Ada.Synchronous_Task_Control;
with Ada.Unchecked_Deallocation;
with Kit.Chain;

package body Kit.Self_Tests is

   --  Chains: copies of one loop, each at an address of the same alignment ------------------------------------------

   procedure Same_Control is new Kit.Chain.Run (Steps => 20);
   procedure Same_Test is new Kit.Chain.Run (Steps => 20);
   procedure Cheaper is new Kit.Chain.Run (Steps => 20);
   procedure Dearer is new Kit.Chain.Run (Steps => 21);

   --  Hand-off by two suspension objects: each thread blocks until the other has run. A rendezvous would not do: before
   --  it blocks, GNAT's run-time system yields, and on one processor that is all that happens

   Asked, Answered : Ada.Synchronous_Task_Control.Suspension_Object;

   Playing : Boolean := True with Atomic;

   task type Partner_Task;

   task body Partner_Task is
   begin
      Thread_Begins;
      loop
         Suspend_Until_True (Asked);
         exit when not Playing;
         if Reporting then
            Thread_Reports;
         end if;
         Set_True (Answered);
      end loop;
   end Partner_Task;

   type Partner_Access is access Partner_Task;

   procedure Free is new Ada.Unchecked_Deallocation (Partner_Task, Partner_Access);

   Partner : Partner_Access;

   procedure Start_Partner (Arg : Argument) is
      pragma Unreferenced (Arg);
   begin
      Playing := True;
      Partner := new Partner_Task;
   end Start_Partner;

   procedure End_Partner (Arg : Argument) is
      pragma Unreferenced (Arg);
   begin
      Playing := False;
      Set_True (Asked);
      while not Partner'Terminated loop
         delay 0.000_1;
      end loop;
      Free (Partner);
   end End_Partner;

   generic
   procedure Hand_Off (Count : Iterations; Sum : out Checksum);

   procedure Hand_Off (Count : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Count loop
         Set_True (Asked);
         Suspend_Until_True (Answered);
         Increment (Index);
      end loop;
      Sum := Checksum (Index);
   end Hand_Off;

   procedure Hand_Off_Control is new Hand_Off;
   procedure Hand_Off_Test is new Hand_Off;

   procedure Register is
   begin
      Register_Frame ("self.same", Same_Control'Access, Same_Test'Access);
      Register_Frame ("self.dearer", Cheaper'Access, Dearer'Access);
      Register_Frame
        ("self.handoff", Hand_Off_Control'Access, Hand_Off_Test'Access,
         Prepare  => Start_Partner'Access,
         Finish   => End_Partner'Access,
         Expected => 2.0,
         Threads  => 2);
   end Register;

end Kit.Self_Tests;
