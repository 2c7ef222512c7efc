with Exception_Causes; use Exception_Causes;

package body Exceptions_In_Line is

   procedure Nothing is null;

   procedure User is
   begin
      raise Failure;
   end User;

   procedure By_Range is
   begin
      Narrowed := Too_Large;
   end By_Range;

   procedure By_Overflow is
   begin
      Result := Largest + 1;
   end By_Overflow;

   procedure By_Constraint_Error is
   begin
      raise Constraint_Error;
   end By_Constraint_Error;

   procedure By_Tasking_Error is
   begin
      raise Tasking_Error;
   end By_Tasking_Error;

end Exceptions_In_Line;
