with Ada.Task_Identification; use Ada.Task_Identification;

package body Switches is

   use type Kit.Nanoseconds;

   Last  : Task_Id         := Null_Task_Id;
   Total : Kit.Nanoseconds := 0;

   procedure Note is
      Running : constant Task_Id := Current_Task;
   begin
      if Running /= Last then
         Total := Total + 1;
         Last := Running;
      end if;
   end Note;

   function Counted return Kit.Nanoseconds
   is (Total);

end Switches;
