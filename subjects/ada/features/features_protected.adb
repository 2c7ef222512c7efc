with Features_Frame;
with Features_Held_Object;
with Features_Protected_Objects; use Features_Protected_Objects;
with Kit;

package body Features_Protected is

   procedure Control is new Features_Frame (Call_Nothing);

   procedure Function_Test       is new Features_Frame (Call_Function);
   procedure Procedure_Test      is new Features_Frame (Call_Procedure);
   procedure With_Entries_Test   is new Features_Frame (Call_Procedure_With_Entries);
   procedure Entry_Test          is new Features_Frame (Call_Entry);
   procedure Requeue_Test        is new Features_Frame (Call_Requeued);
   procedure Open_If_Test        is new Features_Frame (Call_Open_If);
   procedure Closed_If_Test      is new Features_Frame (Call_Closed_If);
   procedure Open_In_Time_Test   is new Features_Frame (Call_Open_In_Time);
   procedure Closed_In_Time_Test is new Features_Frame (Call_Closed_In_Time);
   procedure Closed_1_US_Test    is new Features_Frame (Call_Closed_1_US);
   procedure Exchange_Test       is new Features_Frame (Exchange_Once);

   procedure Held_Control is new Features_Frame
     (Features_Held_Object.Come_Without_Object, Total => Features_Held_Object.Total_When_Released);
   procedure Held_Test is new Features_Frame
     (Features_Held_Object.Come_And_Pass, Total => Features_Held_Object.Total_When_Released);

   procedure Add (Name : String; Test : Kit.Frame);
   --  An operation by the main thread alone, which never blocks

   ---------
   -- Add --
   ---------

   procedure Add (Name : String; Test : Kit.Frame) is
   begin
      Kit.Register_Frame ("protected." & Name, Control'Access, Test, Expected => 0.0);
   end Add;

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Add ("function", Function_Test'Access);
      Add ("procedure", Procedure_Test'Access);
      Add ("procedure_with_entries", With_Entries_Test'Access);
      Add ("entry", Entry_Test'Access);
      Add ("requeue", Requeue_Test'Access);
      Add ("conditional.open", Open_If_Test'Access);
      Add ("conditional.closed", Closed_If_Test'Access);
      Add ("timed.open", Open_In_Time_Test'Access);
      Add ("timed.expired", Closed_In_Time_Test'Access);
      Kit.Register_Frame
        ("protected.timed.expired_1us", Control'Access, Closed_1_US_Test'Access);
      Kit.Register_Frame
        ("protected.contended.entry", Control'Access, Exchange_Test'Access,
         Prepare_Exchange'Access, null, Finish_Exchange'Access,
         Expected => 2.0, Threads => 2);
      Kit.Register_Frame
        ("protected.contended.procedure", Held_Control'Access, Held_Test'Access,
         Features_Held_Object.Prepare'Access, null, Features_Held_Object.Finish'Access,
         Expected => 4.0, Threads => 2);
   end Register;

end Features_Protected;
