--  The map that is cached: words and their counts.

with Ada.Containers.Indefinite_Hashed_Maps;
with Ada.Strings.Hash;
with Team;

package Maps is

   Keys : constant := 128;

   subtype Key_Number is Natural range 0 .. Keys - 1;

   use type Team.Count;

   package Word_Maps is new Ada.Containers.Indefinite_Hashed_Maps
     (Key_Type => String, Element_Type => Team.Count, Hash => Ada.Strings.Hash, Equivalent_Keys => "=");

   --  The words, by number.
   type Word_Access is access constant String;
   Words : array (Key_Number) of Word_Access;

   --  Every word with the count 0.
   function First return Word_Maps.Map;

   procedure Add_One (Map : in out Word_Maps.Map; Key : String);

   function Sum (Map : Word_Maps.Map) return Team.Count;

end Maps;
