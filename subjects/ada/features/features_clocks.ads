--  What reading a clock costs: the clocks of the language, of the system, and of the processor

package Features_Clocks is

   procedure Register;

end Features_Clocks;
