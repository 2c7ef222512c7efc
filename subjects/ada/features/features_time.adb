with Features_Frame;
with Features_Time_Operations; use Features_Time_Operations;
with Kit;

package body Features_Time is

   generic
      with procedure Operate;
   package Run is
      procedure Frame is new Features_Frame (Operate, Features_Time_Operations.Clear, Features_Time_Operations.Total);
   end Run;

   package Run_Assign_Time_V is new Run (Assign_Time_V);
   package Run_Assign_Time_C is new Run (Assign_Time_C);
   package Run_Assign_Duration_V is new Run (Assign_Duration_V);
   package Run_Assign_Duration_C is new Run (Assign_Duration_C);

   package Run_Time_Plus_Duration_VV is new Run (Time_Plus_Duration_VV);
   package Run_Time_Plus_Duration_VC is new Run (Time_Plus_Duration_VC);
   package Run_Time_Plus_Duration_CV is new Run (Time_Plus_Duration_CV);
   package Run_Time_Plus_Duration_CC is new Run (Time_Plus_Duration_CC);
   package Run_Duration_Plus_Time_VV is new Run (Duration_Plus_Time_VV);
   package Run_Duration_Plus_Time_VC is new Run (Duration_Plus_Time_VC);
   package Run_Duration_Plus_Time_CV is new Run (Duration_Plus_Time_CV);
   package Run_Duration_Plus_Time_CC is new Run (Duration_Plus_Time_CC);
   package Run_Time_Minus_Duration_VV is new Run (Time_Minus_Duration_VV);
   package Run_Time_Minus_Duration_VC is new Run (Time_Minus_Duration_VC);
   package Run_Time_Minus_Duration_CV is new Run (Time_Minus_Duration_CV);
   package Run_Time_Minus_Duration_CC is new Run (Time_Minus_Duration_CC);
   package Run_Time_Minus_Time_VV is new Run (Time_Minus_Time_VV);
   package Run_Time_Minus_Time_VC is new Run (Time_Minus_Time_VC);
   package Run_Time_Minus_Time_CV is new Run (Time_Minus_Time_CV);
   package Run_Time_Minus_Time_CC is new Run (Time_Minus_Time_CC);
   package Run_Duration_Plus_Duration_VV is new Run (Duration_Plus_Duration_VV);
   package Run_Duration_Plus_Duration_VC is new Run (Duration_Plus_Duration_VC);
   package Run_Duration_Plus_Duration_CV is new Run (Duration_Plus_Duration_CV);
   package Run_Duration_Plus_Duration_CC is new Run (Duration_Plus_Duration_CC);
   package Run_Duration_Minus_Duration_VV is new Run (Duration_Minus_Duration_VV);
   package Run_Duration_Minus_Duration_VC is new Run (Duration_Minus_Duration_VC);
   package Run_Duration_Minus_Duration_CV is new Run (Duration_Minus_Duration_CV);
   package Run_Duration_Minus_Duration_CC is new Run (Duration_Minus_Duration_CC);

   procedure Add (Name : String; Control, Test : Kit.Frame);

   ---------
   -- Add --
   ---------

   procedure Add (Name : String; Control, Test : Kit.Frame) is
   begin
      Kit.Register_Frame ("time." & Name, Control, Test, Expected => 0.0);
   end Add;

   --------------
   -- Register --
   --------------

   procedure Register is
      --  Each test's control assigns a variable if the operator has one, and a constant otherwise

      Time_V     : constant Kit.Frame := Run_Assign_Time_V.Frame'Access;
      Time_C     : constant Kit.Frame := Run_Assign_Time_C.Frame'Access;
      Duration_V : constant Kit.Frame := Run_Assign_Duration_V.Frame'Access;
      Duration_C : constant Kit.Frame := Run_Assign_Duration_C.Frame'Access;
   begin
      Add ("time_plus_duration.variable_variable", Time_V, Run_Time_Plus_Duration_VV.Frame'Access);
      Add ("time_plus_duration.variable_constant", Time_V, Run_Time_Plus_Duration_VC.Frame'Access);
      Add ("time_plus_duration.constant_variable", Time_V, Run_Time_Plus_Duration_CV.Frame'Access);
      Add ("time_plus_duration.constant_constant", Time_C, Run_Time_Plus_Duration_CC.Frame'Access);
      Add ("duration_plus_time.variable_variable", Time_V, Run_Duration_Plus_Time_VV.Frame'Access);
      Add ("duration_plus_time.variable_constant", Time_V, Run_Duration_Plus_Time_VC.Frame'Access);
      Add ("duration_plus_time.constant_variable", Time_V, Run_Duration_Plus_Time_CV.Frame'Access);
      Add ("duration_plus_time.constant_constant", Time_C, Run_Duration_Plus_Time_CC.Frame'Access);
      Add ("time_minus_duration.variable_variable", Time_V, Run_Time_Minus_Duration_VV.Frame'Access);
      Add ("time_minus_duration.variable_constant", Time_V, Run_Time_Minus_Duration_VC.Frame'Access);
      Add ("time_minus_duration.constant_variable", Time_V, Run_Time_Minus_Duration_CV.Frame'Access);
      Add ("time_minus_duration.constant_constant", Time_C, Run_Time_Minus_Duration_CC.Frame'Access);
      Add ("time_minus_time.variable_variable", Duration_V, Run_Time_Minus_Time_VV.Frame'Access);
      Add ("time_minus_time.variable_constant", Duration_V, Run_Time_Minus_Time_VC.Frame'Access);
      Add ("time_minus_time.constant_variable", Duration_V, Run_Time_Minus_Time_CV.Frame'Access);
      Add ("time_minus_time.constant_constant", Duration_C, Run_Time_Minus_Time_CC.Frame'Access);
      Add ("duration_plus_duration.variable_variable", Duration_V, Run_Duration_Plus_Duration_VV.Frame'Access);
      Add ("duration_plus_duration.variable_constant", Duration_V, Run_Duration_Plus_Duration_VC.Frame'Access);
      Add ("duration_plus_duration.constant_variable", Duration_V, Run_Duration_Plus_Duration_CV.Frame'Access);
      Add ("duration_plus_duration.constant_constant", Duration_C, Run_Duration_Plus_Duration_CC.Frame'Access);
      Add ("duration_minus_duration.variable_variable", Duration_V, Run_Duration_Minus_Duration_VV.Frame'Access);
      Add ("duration_minus_duration.variable_constant", Duration_V, Run_Duration_Minus_Duration_VC.Frame'Access);
      Add ("duration_minus_duration.constant_variable", Duration_V, Run_Duration_Minus_Duration_CV.Frame'Access);
      Add ("duration_minus_duration.constant_constant", Duration_C, Run_Duration_Minus_Duration_CC.Frame'Access);
   end Register;

end Features_Time;
