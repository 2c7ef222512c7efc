with Features_Frame;
with Features_Protected_Objects; use Features_Protected_Objects;
with Kit;

package body Features_Protected is

   procedure Control is new Features_Frame (Call_Nothing);

   procedure Function_Test       is new Features_Frame (Call_Function);
   procedure Procedure_Test      is new Features_Frame (Call_Procedure);
   procedure Entry_Test          is new Features_Frame (Call_Entry);
   procedure Requeue_Test        is new Features_Frame (Call_Requeued);
   procedure Open_If_Test        is new Features_Frame (Call_Open_If);
   procedure Closed_If_Test      is new Features_Frame (Call_Closed_If);
   procedure Open_In_Time_Test   is new Features_Frame (Call_Open_In_Time);
   procedure Closed_In_Time_Test is new Features_Frame (Call_Closed_In_Time);
   procedure Exchange_Test       is new Features_Frame (Exchange_Once);

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
      Add ("entry", Entry_Test'Access);
      Add ("requeue", Requeue_Test'Access);
      Add ("conditional.open", Open_If_Test'Access);
      Add ("conditional.closed", Closed_If_Test'Access);
      Add ("timed.open", Open_In_Time_Test'Access);
      Add ("timed.expired", Closed_In_Time_Test'Access);
      Kit.Register_Frame
        ("protected.contended.entry", Control'Access, Exchange_Test'Access,
         Prepare_Exchange'Access, null, Finish_Exchange'Access,
         Expected => 2.0, Threads => 2);
      Kit.Register_Frame
        ("protected.contended.procedure", Pair_Control'Access, Pair_Test'Access,
         Prepare_Pair'Access, null, Finish_Pair'Access,
         Threads => 2);
   end Register;

end Features_Protected;
