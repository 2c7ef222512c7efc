--  Whole lives of a task, and the three phases of one, compiled apart from the frames

with Kit;

package Features_Task_Lives is

   procedure Live_Not;
   --  The control: the same block without a task

   procedure Live_Declared;
   --  A task declared in a block

   procedure Live_Of_Type;
   --  An object of a task type declared in a block

   procedure Live_Allocated;
   --  An allocator in a block, of an access type that belongs to it: leaving the block awaits the task. The object
   --  is given back by Unchecked_Deallocation in every operation, after the allocator, that is while the task may
   --  still run: this deallocates the task when it has terminated (RM 13.11.2), and a loop of any length keeps its
   --  size

   --  Phases: each ends where the next begins -------------------------------------------------------------------

   procedure Elaborate (Result : out Kit.Sample);
   --  From reaching the declaration of the task object to the end of the declarative part, where activation begins
   --  (RM 9.2(2))

   procedure Activate (Result : out Kit.Sample);
   --  From the end of the declarative part to the task's first statement

   procedure Terminate_And_Await (Result : out Kit.Sample);
   --  From the task's last statement to the master's next one after the block

end Features_Task_Lives;
