--  The variables of the TIME and DURATION tests: their values are set in a body that is compiled apart

with Ada.Calendar;

package Features_Time_Operands is

   pragma Elaborate_Body;

   Variable_Time_1, Variable_Time_2         : Ada.Calendar.Time;
   Variable_Duration_1, Variable_Duration_2 : Duration;

end Features_Time_Operands;
