--  Tasking_Error by calling an entry of a completed task

with Kit;

package Completed_Task is

   procedure Complete_One (Arg : Kit.Argument);
   --  Starts a task and waits until it is completed

   procedure Frame (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Forget_It (Arg : Kit.Argument);

end Completed_Task;
