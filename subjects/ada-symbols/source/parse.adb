--  Parses many small documents, each with a symbol table of its own: parse [DOCUMENTS].
--  Prints how many names it met, and how many different ones.

with Ada.Command_Line;
with Ada.Real_Time;
with Ada.Text_IO;
with Documents;
with Symbols;

procedure Parse is

   use type Ada.Real_Time.Time;

   subtype Letter is Character with
     Static_Predicate => Letter in 'a' .. 'z' | '0' .. '9' | '_';

   Names, Different : Natural := 0;

   procedure Parse_One (Text : String);
   --  Interns the names of elements and attributes: letters that stand outside of values.

   procedure Parse_One (Text : String) is
      Table : Symbols.Table;
      First : Positive := Text'First;
      Found : Symbols.Symbol;
      In_Value : Boolean := False;
   begin
      for Position in Text'Range loop
         if Text (Position) = '"' then
            In_Value := not In_Value;
            First := Position + 1;
         elsif not In_Value and then Text (Position) not in Letter then
            if Position > First then
               Symbols.Intern (Table, Text (First .. Position - 1), Found);
               Names := Names + 1;
            end if;
            First := Position + 1;
         end if;
      end loop;
      Different := Different + Symbols.Count (Table);
   end Parse_One;

   function Asked return Positive;
   --  How many documents.

   function Asked return Positive is
   begin
      if Ada.Command_Line.Argument_Count = 0 then
         return 130;
      end if;
      return Positive'Value (Ada.Command_Line.Argument (1));
   end Asked;

   Count : Positive;
   Begun : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;
   Text  : Documents.Text;
   Last  : Natural;

begin
   begin
      Count := Asked;
   exception
      when Constraint_Error =>
         Ada.Text_IO.Put_Line
           (Ada.Text_IO.Standard_Error, "usage: parse [DOCUMENTS], how many: a number from 1");
         Ada.Command_Line.Set_Exit_Status (2);
         return;
   end;
   for Number in 1 .. Count loop
      Documents.Write (Number, Text, Last);
      Parse_One (Text (1 .. Last));
   end loop;
   Ada.Text_IO.Put_Line ("names" & Names'Image & " different" & Different'Image);
   declare
      use Ada.Real_Time;
      Elapsed_Ns : constant Long_Long_Integer :=
        Long_Long_Integer (To_Duration (Clock - Begun) * 1_000_000_000.0);
      Image : constant String := Elapsed_Ns'Image;
   begin
      Ada.Text_IO.Put_Line ("@@ run elapsed_ns=" & Image (Image'First + 1 .. Image'Last));
   end;
end Parse;
