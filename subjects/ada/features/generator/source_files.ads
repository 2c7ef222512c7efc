--  Ada source files as the generator writes them: lines, and lists that are broken before they grow too long

package Source_Files is

   procedure Open (Unit : String; Is_Body : Boolean; Purpose : String);
   --  A file in the current folder, named as GNAT expects; Purpose is its first comment

   procedure Open_Package
     (Unit     : String;
      Is_Body  : Boolean;
      Purpose  : String;
      Context  : String := "";    --  with clauses, and an end of line between two lines of them
      Formals  : String := "");   --  of a generic package's specification, likewise
   --  The file of a package as far as its first line

   procedure Close_Package (Unit : String);
   --  The last line, and the end of the file

   procedure Put (Indent : Natural; Line : String);

   procedure Blank;

   function Numeral (Value : Natural) return String;
   --  Without a leading space

   procedure Put_List (Indent : Natural; Before, Item_Before, Item_After, After : String; Count : Positive);
   --  Before, then Count items numbered from 1 (the number between Item_Before and Item_After) with commas, then After

   procedure Close;

   procedure Write_Registering_Spec (Unit, Purpose : String);
   --  The specification of a package with one procedure, Register

end Source_Files;
