with Exceptions_In_Line;

package body Exception_Causes is

   procedure Raise_Nothing is
   begin
      Exceptions_In_Line.Nothing;
   end Raise_Nothing;

   procedure Raise_User is
   begin
      Exceptions_In_Line.User;
   end Raise_User;

   procedure Raise_Range is
   begin
      Exceptions_In_Line.By_Range;
   end Raise_Range;

   procedure Raise_Overflow is
   begin
      Exceptions_In_Line.By_Overflow;
   end Raise_Overflow;

   procedure Raise_Constraint_Error is
   begin
      Exceptions_In_Line.By_Constraint_Error;
   end Raise_Constraint_Error;

   procedure Raise_Tasking_Error is
   begin
      Exceptions_In_Line.By_Tasking_Error;
   end Raise_Tasking_Error;

   function Raises (Its : not null Cause) return Boolean is
   begin
      Its.all;
      return False;
   exception
      when others =>
         return True;
   end Raises;

end Exception_Causes;
