--  Procedures that raise an exception, and their null counterpart. Compiled apart from the frames

package Exception_Causes is

   Failure : exception;

   subtype Narrow is Integer range 1 .. 10;

   --  Variables that no compiler knows the values of
   Too_Large : Integer := 11;
   Largest   : Integer := Integer'Last;
   Result    : Integer := 0;
   Narrowed  : Narrow  := 1;

   procedure Raise_Nothing;
   procedure Raise_User;
   procedure Raise_Range;               --  by assigning a value out of range
   procedure Raise_Overflow;            --  by adding to the largest integer
   procedure Raise_Constraint_Error;    --  by a raise statement
   procedure Raise_Tasking_Error;       --  by a raise statement

   type Cause is access procedure;

   function Raises (Its : not null Cause) return Boolean;
   --  Whether it raises anything in this build: range and overflow do not where checks are suppressed

end Exception_Causes;
