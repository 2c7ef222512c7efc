with Ada.Unchecked_Deallocation;
with Exception_Frames;

package body Completed_Task is

   task type Brief is
      entry Visit;
   end Brief;

   task body Brief is
   begin
      Kit.Thread_Begins;
      select
         accept Visit;   --  nobody calls while it runs
      else
         null;
      end select;
   end Brief;

   type Brief_Access is access Brief;

   procedure Free is new Ada.Unchecked_Deallocation (Brief, Brief_Access);

   Gone : Brief_Access;

   procedure Complete_One (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Gone := new Brief;
      while not Gone'Terminated loop
         delay 0.000_1;
      end loop;
   end Complete_One;

   procedure Visit_It with Inline_Always;

   procedure Visit_It is
   begin
      Gone.Visit;
   end Visit_It;

   procedure Visits is new Exception_Frames.Handled_By_Caller (Visit_It);

   procedure Frame (Count : Kit.Iterations; Sum : out Kit.Checksum) renames Visits;

   procedure Forget_It (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Free (Gone);
   end Forget_It;

end Completed_Task;
