with Ada.Unchecked_Deallocation;

package body Completed_Task is

   use type Kit.Checksum, Kit.Iterations;

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

   procedure Frame (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index   : Kit.Iterations := 0;
      Handled : Kit.Checksum   := 0;
   begin
      while Index < Count loop
         begin
            Gone.Visit;
         exception
            when Tasking_Error =>
               Handled := Handled + 1;
         end;
         Kit.Increment (Index);
      end loop;
      Sum := Handled;
   end Frame;

   procedure Forget_It (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Free (Gone);
   end Forget_It;

end Completed_Task;
