with Ada.Calendar;             use Ada.Calendar;
with Features_Tally;           use Features_Tally;
with Features_Time_Operands;   use Features_Time_Operands;

package body Features_Time_Operations is

   use type Kit.Checksum;

   --  A constant of DURATION is known when compiling. One of TIME cannot be, as its type is private, but it is known
   --  not to change

   Fixed_Time_1     : constant Time := Time_Of (2001, 2, 3, 4_000.5);
   Fixed_Time_2     : constant Time := Time_Of (2001, 2, 3, 1_000.25);
   Fixed_Duration_1 : constant Duration := 1_234.5;
   Fixed_Duration_2 : constant Duration := 0.125;

   Time_Result     : Time := Fixed_Time_1 with Volatile;
   Duration_Result : Duration := 0.0 with Volatile;

   procedure Finish (Result : Time) with Inline_Always;
   procedure Finish (Result : Duration) with Inline_Always;
   --  Stores and counts, the same in controls and tests

   -----------
   -- Clear --
   -----------

   procedure Clear is
   begin
      Features_Tally.Clear;
      Time_Result := Fixed_Time_1;
      Duration_Result := 0.0;
   end Clear;

   -----------
   -- Total --
   -----------

   function Total return Kit.Checksum is
      Since  : constant Duration := Time_Result - Fixed_Time_2;
      Result : constant Duration := Duration_Result;
   begin
      return Features_Tally.Total + Kit.Checksum (Since * 1_000) + Kit.Checksum (Result * 1_000);
   end Total;

   ------------
   -- Finish --
   ------------

   procedure Finish (Result : Time) is
   begin
      Time_Result := Result;
      Done := Done + 1;
   end Finish;

   procedure Finish (Result : Duration) is
   begin
      Duration_Result := Result;
      Done := Done + 1;
   end Finish;

   -------------------
   -- Assign_Time_V --
   -------------------

   procedure Assign_Time_V is
   begin
      Finish (Variable_Time_1);
   end Assign_Time_V;

   -------------------
   -- Assign_Time_C --
   -------------------

   procedure Assign_Time_C is
   begin
      Finish (Fixed_Time_1);
   end Assign_Time_C;

   -----------------------
   -- Assign_Duration_V --
   -----------------------

   procedure Assign_Duration_V is
   begin
      Finish (Variable_Duration_1);
   end Assign_Duration_V;

   -----------------------
   -- Assign_Duration_C --
   -----------------------

   procedure Assign_Duration_C is
   begin
      Finish (Fixed_Duration_1);
   end Assign_Duration_C;

   ---------------------------
   -- Time_Plus_Duration_VV --
   ---------------------------

   procedure Time_Plus_Duration_VV is
   begin
      Finish (Variable_Time_1 + Variable_Duration_2);
   end Time_Plus_Duration_VV;

   ---------------------------
   -- Time_Plus_Duration_VC --
   ---------------------------

   procedure Time_Plus_Duration_VC is
   begin
      Finish (Variable_Time_1 + Fixed_Duration_2);
   end Time_Plus_Duration_VC;

   ---------------------------
   -- Time_Plus_Duration_CV --
   ---------------------------

   procedure Time_Plus_Duration_CV is
   begin
      Finish (Fixed_Time_1 + Variable_Duration_2);
   end Time_Plus_Duration_CV;

   ---------------------------
   -- Time_Plus_Duration_CC --
   ---------------------------

   procedure Time_Plus_Duration_CC is
   begin
      Finish (Fixed_Time_1 + Fixed_Duration_2);
   end Time_Plus_Duration_CC;

   ---------------------------
   -- Duration_Plus_Time_VV --
   ---------------------------

   procedure Duration_Plus_Time_VV is
   begin
      Finish (Variable_Duration_1 + Variable_Time_2);
   end Duration_Plus_Time_VV;

   ---------------------------
   -- Duration_Plus_Time_VC --
   ---------------------------

   procedure Duration_Plus_Time_VC is
   begin
      Finish (Variable_Duration_1 + Fixed_Time_2);
   end Duration_Plus_Time_VC;

   ---------------------------
   -- Duration_Plus_Time_CV --
   ---------------------------

   procedure Duration_Plus_Time_CV is
   begin
      Finish (Fixed_Duration_1 + Variable_Time_2);
   end Duration_Plus_Time_CV;

   ---------------------------
   -- Duration_Plus_Time_CC --
   ---------------------------

   procedure Duration_Plus_Time_CC is
   begin
      Finish (Fixed_Duration_1 + Fixed_Time_2);
   end Duration_Plus_Time_CC;

   ----------------------------
   -- Time_Minus_Duration_VV --
   ----------------------------

   procedure Time_Minus_Duration_VV is
   begin
      Finish (Variable_Time_1 - Variable_Duration_2);
   end Time_Minus_Duration_VV;

   ----------------------------
   -- Time_Minus_Duration_VC --
   ----------------------------

   procedure Time_Minus_Duration_VC is
   begin
      Finish (Variable_Time_1 - Fixed_Duration_2);
   end Time_Minus_Duration_VC;

   ----------------------------
   -- Time_Minus_Duration_CV --
   ----------------------------

   procedure Time_Minus_Duration_CV is
   begin
      Finish (Fixed_Time_1 - Variable_Duration_2);
   end Time_Minus_Duration_CV;

   ----------------------------
   -- Time_Minus_Duration_CC --
   ----------------------------

   procedure Time_Minus_Duration_CC is
   begin
      Finish (Fixed_Time_1 - Fixed_Duration_2);
   end Time_Minus_Duration_CC;

   ------------------------
   -- Time_Minus_Time_VV --
   ------------------------

   procedure Time_Minus_Time_VV is
   begin
      Finish (Variable_Time_1 - Variable_Time_2);
   end Time_Minus_Time_VV;

   ------------------------
   -- Time_Minus_Time_VC --
   ------------------------

   procedure Time_Minus_Time_VC is
   begin
      Finish (Variable_Time_1 - Fixed_Time_2);
   end Time_Minus_Time_VC;

   ------------------------
   -- Time_Minus_Time_CV --
   ------------------------

   procedure Time_Minus_Time_CV is
   begin
      Finish (Fixed_Time_1 - Variable_Time_2);
   end Time_Minus_Time_CV;

   ------------------------
   -- Time_Minus_Time_CC --
   ------------------------

   procedure Time_Minus_Time_CC is
   begin
      Finish (Fixed_Time_1 - Fixed_Time_2);
   end Time_Minus_Time_CC;

   -------------------------------
   -- Duration_Plus_Duration_VV --
   -------------------------------

   procedure Duration_Plus_Duration_VV is
   begin
      Finish (Variable_Duration_1 + Variable_Duration_2);
   end Duration_Plus_Duration_VV;

   -------------------------------
   -- Duration_Plus_Duration_VC --
   -------------------------------

   procedure Duration_Plus_Duration_VC is
   begin
      Finish (Variable_Duration_1 + Fixed_Duration_2);
   end Duration_Plus_Duration_VC;

   -------------------------------
   -- Duration_Plus_Duration_CV --
   -------------------------------

   procedure Duration_Plus_Duration_CV is
   begin
      Finish (Fixed_Duration_1 + Variable_Duration_2);
   end Duration_Plus_Duration_CV;

   -------------------------------
   -- Duration_Plus_Duration_CC --
   -------------------------------

   procedure Duration_Plus_Duration_CC is
   begin
      Finish (Fixed_Duration_1 + Fixed_Duration_2);
   end Duration_Plus_Duration_CC;

   --------------------------------
   -- Duration_Minus_Duration_VV --
   --------------------------------

   procedure Duration_Minus_Duration_VV is
   begin
      Finish (Variable_Duration_1 - Variable_Duration_2);
   end Duration_Minus_Duration_VV;

   --------------------------------
   -- Duration_Minus_Duration_VC --
   --------------------------------

   procedure Duration_Minus_Duration_VC is
   begin
      Finish (Variable_Duration_1 - Fixed_Duration_2);
   end Duration_Minus_Duration_VC;

   --------------------------------
   -- Duration_Minus_Duration_CV --
   --------------------------------

   procedure Duration_Minus_Duration_CV is
   begin
      Finish (Fixed_Duration_1 - Variable_Duration_2);
   end Duration_Minus_Duration_CV;

   --------------------------------
   -- Duration_Minus_Duration_CC --
   --------------------------------

   procedure Duration_Minus_Duration_CC is
   begin
      Finish (Fixed_Duration_1 - Fixed_Duration_2);
   end Duration_Minus_Duration_CC;

end Features_Time_Operations;
