--  TIME and DURATION arithmetic: the operators of Ada.Calendar and of DURATION on variables and constants

package Features_Time is

   procedure Register;

end Features_Time;
