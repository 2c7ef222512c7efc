--  The statements that raise an exception, for whoever has them in line

package Exceptions_In_Line is

   procedure Nothing with Inline_Always;
   procedure User with Inline_Always;
   procedure By_Range with Inline_Always;            --  by assigning a value out of range
   procedure By_Overflow with Inline_Always;         --  by adding to the largest integer
   procedure By_Constraint_Error with Inline_Always; --  by a raise statement
   procedure By_Tasking_Error with Inline_Always;    --  by a raise statement

end Exceptions_In_Line;
