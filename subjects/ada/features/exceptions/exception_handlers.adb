with Exception_Causes; use Exception_Causes;

package body Exception_Handlers is

   procedure Bare is
   begin
      Raise_Nothing;
      Result := 1;
   end Bare;

   procedure Handling is
   begin
      Raise_Nothing;
      Result := 1;
   exception
      when Failure =>
         Result := 2;
   end Handling;

end Exception_Handlers;
