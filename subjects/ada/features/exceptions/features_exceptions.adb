with Completed_Task;
with Exception_Causes; use Exception_Causes;
with Exception_Frames; use Exception_Frames;
with Exception_Handlers;
with Exception_Levels;
with Exceptions_In_Line;
with Kit;              use Kit;

package body Features_Exceptions is

   --  Frames -------------------------------------------------------------------------------------------------------

   procedure Bare is new Not_Handled (Raise_Nothing);
   procedure Bare_Procedure is new Not_Handled (Exception_Handlers.Bare);
   procedure Handler_In_Procedure is new Not_Handled (Exception_Handlers.Handling);

   procedure Nothing_In_Block is new Control_Of_Caller (Exceptions_In_Line.Nothing);
   procedure User_In_Block is new Handled_By_Caller (Exceptions_In_Line.User);
   procedure Range_In_Block is new Handled_By_Caller (Exceptions_In_Line.By_Range);
   procedure Overflow_In_Block is new Handled_By_Caller (Exceptions_In_Line.By_Overflow);
   procedure Constraint_Error_In_Block is new Handled_By_Caller (Exceptions_In_Line.By_Constraint_Error);
   procedure Tasking_Error_In_Block is new Handled_By_Caller (Exceptions_In_Line.By_Tasking_Error);

   procedure User_In_Procedure is new Handled_By_Caller (Raise_User);
   procedure Range_In_Procedure is new Handled_By_Caller (Raise_Range);
   procedure Overflow_In_Procedure is new Handled_By_Caller (Raise_Overflow);
   procedure Constraint_Error_In_Procedure is new Handled_By_Caller (Raise_Constraint_Error);
   procedure Tasking_Error_In_Procedure is new Handled_By_Caller (Raise_Tasking_Error);
   procedure Nothing_In_Procedure is new Control_Of_Caller (Raise_Nothing);

   procedure Through_4 is new Handled_By_Caller (Exception_Levels.Call_4);
   procedure Through_16 is new Handled_By_Caller (Exception_Levels.Call_16);
   procedure Nothing_Through_4 is new Control_Of_Caller (Exception_Levels.Call_4);
   procedure Nothing_Through_16 is new Control_Of_Caller (Exception_Levels.Call_16);

   --  Test and control of levels_N run the same chain; which procedure is its first is set before each frame's loop

   generic
      Its : Cause;
      with procedure Loop_Of_Calls (Count : Iterations; Sum : out Checksum);
   procedure With_Cause (Count : Iterations; Sum : out Checksum);

   procedure With_Cause (Count : Iterations; Sum : out Checksum) is
   begin
      Exception_Levels.First := Its;
      Loop_Of_Calls (Count, Sum);
   end With_Cause;

   procedure Control_4 is new With_Cause (Raise_Nothing'Access, Nothing_Through_4);
   procedure Control_16 is new With_Cause (Raise_Nothing'Access, Nothing_Through_16);

   --  A cause ------------------------------------------------------------------------------------------------------

   Suppressed : constant String :=
     "run-time checks are suppressed in this build (-gnatp); measure a variant that is built without -gnatp";

   procedure Register_Cause
     (Name : String; Its : not null Cause; In_Block, In_Procedure, Through_Four, Through_Sixteen : not null Frame) is

      procedure Register_One (Handled : String; Control, Test : not null Frame);

      procedure Register_One (Handled : String; Control, Test : not null Frame) is
      begin
         if Raises (Its) then
            Register_Frame ("exception." & Name & '.' & Handled, Control, Test);
         else
            Register_Absent ("exception." & Name & '.' & Handled, "frame", Suppressed);
         end if;
      end Register_One;

   begin
      Register_One ("block", Nothing_In_Block'Access, In_Block);
      Register_One ("procedure", Nothing_In_Procedure'Access, In_Procedure);
      Register_One ("levels_4", Control_4'Access, Through_Four);
      Register_One ("levels_16", Control_16'Access, Through_Sixteen);
   end Register_Cause;

   procedure User_4 is new With_Cause (Raise_User'Access, Through_4);
   procedure User_16 is new With_Cause (Raise_User'Access, Through_16);
   procedure Range_4 is new With_Cause (Raise_Range'Access, Through_4);
   procedure Range_16 is new With_Cause (Raise_Range'Access, Through_16);
   procedure Overflow_4 is new With_Cause (Raise_Overflow'Access, Through_4);
   procedure Overflow_16 is new With_Cause (Raise_Overflow'Access, Through_16);
   procedure Constraint_Error_4 is new With_Cause (Raise_Constraint_Error'Access, Through_4);
   procedure Constraint_Error_16 is new With_Cause (Raise_Constraint_Error'Access, Through_16);
   procedure Tasking_Error_4 is new With_Cause (Raise_Tasking_Error'Access, Through_4);
   procedure Tasking_Error_16 is new With_Cause (Raise_Tasking_Error'Access, Through_16);

   procedure Register is
   begin
      Register_Frame ("exception.not_raised.block", Bare'Access, Handler_In_Block'Access);
      Register_Frame ("exception.not_raised.procedure", Bare_Procedure'Access, Handler_In_Procedure'Access);
      Register_Cause
        ("user", Raise_User'Access,
         User_In_Block'Access, User_In_Procedure'Access, User_4'Access, User_16'Access);
      Register_Cause
        ("range", Raise_Range'Access,
         Range_In_Block'Access, Range_In_Procedure'Access, Range_4'Access, Range_16'Access);
      Register_Cause
        ("overflow", Raise_Overflow'Access,
         Overflow_In_Block'Access, Overflow_In_Procedure'Access, Overflow_4'Access, Overflow_16'Access);
      Register_Cause
        ("constraint_error", Raise_Constraint_Error'Access,
         Constraint_Error_In_Block'Access, Constraint_Error_In_Procedure'Access,
         Constraint_Error_4'Access, Constraint_Error_16'Access);
      Register_Cause
        ("tasking_error", Raise_Tasking_Error'Access,
         Tasking_Error_In_Block'Access, Tasking_Error_In_Procedure'Access,
         Tasking_Error_4'Access, Tasking_Error_16'Access);
      Register_Frame
        ("exception.completed_task.block", Nothing_In_Block'Access, Completed_Task.Frame'Access,
         Prepare => Completed_Task.Complete_One'Access,
         Finish  => Completed_Task.Forget_It'Access);
   end Register;

end Features_Exceptions;
