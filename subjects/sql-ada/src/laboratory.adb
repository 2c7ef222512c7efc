with Ada.Environment_Variables;

package body Laboratory is

   ----------
   -- Told --
   ----------

   function Told (Name : String) return String is
      Full : constant String := "ANTIPHON_SQL_" & Name;
   begin
      if not Ada.Environment_Variables.Exists (Full) then
         raise Failed with
           Full & " is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)";
      end if;
      return Ada.Environment_Variables.Value (Full);
   end Told;

   ------------
   -- Expect --
   ------------

   procedure Expect (Found, Wanted : Natural) is
   begin
      if Found /= Wanted then
         raise Failed with Found'Image & " rows in place of" & Wanted'Image;
      end if;
   end Expect;

end Laboratory;
