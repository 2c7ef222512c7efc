package body Exception_Causes is

   procedure Raise_Nothing is
   begin
      null;
   end Raise_Nothing;

   procedure Raise_User is
   begin
      raise Failure;
   end Raise_User;

   procedure Raise_Range is
   begin
      Narrowed := Too_Large;
   end Raise_Range;

   procedure Raise_Overflow is
   begin
      Result := Largest + 1;
   end Raise_Overflow;

   procedure Raise_Constraint_Error is
   begin
      raise Constraint_Error;
   end Raise_Constraint_Error;

   procedure Raise_Tasking_Error is
   begin
      raise Tasking_Error;
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
