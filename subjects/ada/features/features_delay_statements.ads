--  One delay each, compiled apart from the frames

with Kit;

package Features_Delay_Statements is

   procedure Request (Arg : Kit.Argument);
   --  The delay to be requested, in nanoseconds

   procedure Delay_Not;

   procedure Delay_Zero;

   procedure Delay_Relative;

   procedure Compute_Until;
   --  The control of Delay_Until: the time is computed and not waited for

   procedure Delay_Until;
   --  Until the present time of Ada.Real_Time plus the requested delay. The time is computed anew for each, so that
   --  a late return does not shorten the next delay

end Features_Delay_Statements;
