package body Features_Time_Operands is
begin
   Variable_Time_1     := Ada.Calendar.Time_Of (2001, 2, 3, 5_000.5);
   Variable_Time_2     := Ada.Calendar.Time_Of (2001, 2, 3, 2_000.25);
   Variable_Duration_1 := 2_345.5;
   Variable_Duration_2 := 0.25;
end Features_Time_Operands;
