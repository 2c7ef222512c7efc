with Ada.Synchronous_Task_Control; use Ada.Synchronous_Task_Control;
with Ada.Unchecked_Deallocation;
with Features_Tally;               use Features_Tally;
with Interfaces.C;

package body Features_Held_Object is

   use type Kit.Checksum;

   Go, Is_Held : Suspension_Object;

   Comings : Kit.Checksum := 0 with Atomic;
   --  Of the caller, counted: a flag could be set and cleared again unseen

   With_Object : Boolean := False with Atomic;
   Ending      : Boolean := False with Atomic;
   --  A task that waits for a suspension object cannot be counted on to notice an abort, so this partner is told

   function Sched_Yield return Interfaces.C.int
     with Import, Convention => C, External_Name => "sched_yield";
   --  The holder lets the caller run from within its protected action, where Ada allows no delay statement. No locking
   --  policy is in force that would raise its priority there

   procedure Await_Coming (Round : Kit.Checksum);
   --  Says that the partner is there, and stays until the caller has come

   protected Object is
      procedure Hold (Round : Kit.Checksum);
      procedure Pass;
   end Object;

   task type Partner;

   type Partner_Access is access Partner;

   procedure Free is new Ada.Unchecked_Deallocation (Partner, Partner_Access);

   Instance : Partner_Access;

   procedure Let_Partner_Hold (Its_Object : Boolean) with Inline;

   ------------------
   -- Await_Coming --
   ------------------

   procedure Await_Coming (Round : Kit.Checksum) is
      Result : Interfaces.C.int with Unreferenced;
   begin
      Set_True (Is_Held);
      while Comings < Round loop
         Result := Sched_Yield;
      end loop;
   end Await_Coming;

   ------------
   -- Object --
   ------------

   protected body Object is

      procedure Hold (Round : Kit.Checksum) is
      begin
         Await_Coming (Round);
      end Hold;

      procedure Pass is
      begin
         Done := Done + 1;
      end Pass;

   end Object;

   -------------
   -- Partner --
   -------------

   task body Partner is
      Round : Kit.Checksum := 0;
   begin
      Kit.Thread_Begins;
      loop
         Suspend_Until_True (Go);
         exit when Ending;
         if Kit.Reporting then
            Kit.Thread_Reports;
         end if;
         Round := Round + 1;
         if With_Object then
            Object.Hold (Round);
         else
            Await_Coming (Round);
         end if;
      end loop;
   end Partner;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
   begin
      Finish (Arg);
      Ending  := False;
      Comings := 0;
      Set_False (Go);
      Set_False (Is_Held);
      Instance := new Partner;
   end Prepare;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      if Instance = null then
         return;
      end if;
      Ending  := True;
      Comings := Kit.Checksum'Last; --  lets go, if the test has ended half-way
      Set_True (Go);
      while not Instance.all'Terminated loop
         delay 0.000_1;
      end loop;
      Free (Instance);
   end Finish;

   ----------------------
   -- Let_Partner_Hold --
   ----------------------

   procedure Let_Partner_Hold (Its_Object : Boolean) is
   begin
      With_Object := Its_Object;
      Set_True (Go);
      Suspend_Until_True (Is_Held);
      Comings := Comings + 1;
   end Let_Partner_Hold;

   -------------------------
   -- Come_Without_Object --
   -------------------------

   procedure Come_Without_Object is
   begin
      Let_Partner_Hold (False);
      Done := Done + 1;
   end Come_Without_Object;

   -------------------
   -- Come_And_Pass --
   -------------------

   procedure Come_And_Pass is
   begin
      Let_Partner_Hold (True);
      Object.Pass;
   end Come_And_Pass;

end Features_Held_Object;
