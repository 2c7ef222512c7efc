with Features_Frame;
with Features_Task_Lives; use Features_Task_Lives;
with Kit;

package body Features_Tasks is

   procedure Control        is new Features_Frame (Live_Not);
   procedure Declared_Test  is new Features_Frame (Live_Declared);
   procedure Of_Type_Test   is new Features_Frame (Live_Of_Type);
   procedure Allocated_Test is new Features_Frame (Live_Allocated);

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Kit.Register_Frame ("task.declared", Control'Access, Declared_Test'Access, Threads => 2);
      Kit.Register_Frame ("task.type_object", Control'Access, Of_Type_Test'Access, Threads => 2);
      Kit.Register_Frame ("task.allocated", Control'Access, Allocated_Test'Access, Threads => 2);
      Kit.Register_Latency ("task.phase.elaborate", Elaborate'Access, Threads => 2);
      Kit.Register_Latency ("task.phase.activate", Activate'Access, Threads => 2);
      Kit.Register_Latency ("task.phase.terminate", Terminate_And_Await'Access, Threads => 2);
   end Register;

end Features_Tasks;
