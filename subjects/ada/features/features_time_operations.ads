--  The operators of TIME and DURATION on variables (V) and constants (C), one operation each, compiled apart from
--  the frames. In each name the first letter is the left operand's. Controls assign without an operator.

with Kit;

package Features_Time_Operations is

   procedure Clear;

   function Total return Kit.Checksum;
   --  The operations done and the last results

   --  Controls: a result assigned from a variable or a constant

   procedure Assign_Time_V;
   procedure Assign_Time_C;
   procedure Assign_Duration_V;
   procedure Assign_Duration_C;

   --  Operators

   procedure Time_Plus_Duration_VV;
   procedure Time_Plus_Duration_VC;
   procedure Time_Plus_Duration_CV;
   procedure Time_Plus_Duration_CC;

   procedure Duration_Plus_Time_VV;
   procedure Duration_Plus_Time_VC;
   procedure Duration_Plus_Time_CV;
   procedure Duration_Plus_Time_CC;

   procedure Time_Minus_Duration_VV;
   procedure Time_Minus_Duration_VC;
   procedure Time_Minus_Duration_CV;
   procedure Time_Minus_Duration_CC;

   procedure Time_Minus_Time_VV;
   procedure Time_Minus_Time_VC;
   procedure Time_Minus_Time_CV;
   procedure Time_Minus_Time_CC;

   procedure Duration_Plus_Duration_VV;
   procedure Duration_Plus_Duration_VC;
   procedure Duration_Plus_Duration_CV;
   procedure Duration_Plus_Duration_CC;

   procedure Duration_Minus_Duration_VV;
   procedure Duration_Minus_Duration_VC;
   procedure Duration_Minus_Duration_CV;
   procedure Duration_Minus_Duration_CC;

end Features_Time_Operations;
