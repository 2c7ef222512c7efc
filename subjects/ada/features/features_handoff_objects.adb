with Ada.Synchronous_Task_Control; use Ada.Synchronous_Task_Control;
with Ada.Unchecked_Deallocation;
with Features_Tally;               use Features_Tally;

package body Features_Handoff_Objects is

   use type Kit.Checksum;

   There, Back : Suspension_Object;

   Ending : Boolean := False with Atomic;
   --  A task that waits for a suspension object cannot be counted on to notice an abort, so this partner is told

   task type Partner;

   type Partner_Access is access Partner;

   procedure Free is new Ada.Unchecked_Deallocation (Partner, Partner_Access);

   Instance : Partner_Access;

   -------------
   -- Partner --
   -------------

   task body Partner is
   begin
      Kit.Thread_Begins;
      loop
         Suspend_Until_True (There);
         exit when Ending;
         if Kit.Reporting then
            Kit.Thread_Reports;
         end if;
         Done := Done + 1;
         Set_True (Back);
      end loop;
   end Partner;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
   begin
      Finish (Arg);
      Ending := False;
      Set_False (There);
      Set_False (Back);
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
      Ending := True;
      Set_True (There);
      while not Instance.all'Terminated loop
         delay 0.000_1;
      end loop;
      Free (Instance);
   end Finish;

   ---------------
   -- Hand_Over --
   ---------------

   procedure Hand_Over is
   begin
      Set_True (There);
      Suspend_Until_True (Back);
   end Hand_Over;

   -----------------------
   -- Hand_Over_Nothing --
   -----------------------

   procedure Hand_Over_Nothing is
   begin
      Done := Done + 1;
   end Hand_Over_Nothing;

end Features_Handoff_Objects;
