with Ada.Containers.Vectors;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Colours;               use Colours;

package body Depots is

   --  The last places are never used.
   Room : constant := 4;

   --  What is kept, and its length
   subtype Length is Natural range 0 .. Room;
   type Stock is array (1 .. Room) of Positive;

   type Page is record
      Entries : Stock := (others => 1);
      Count   : Length := 0;
   end record;

   package Numbers is new Ada.Containers.Vectors (Positive, Positive);

   task body Depot is
      Kept  : Page;
      Last  : Colour := Red;
      Seen  : Numbers.Vector;
      Title : Unbounded_String;
   begin
      loop
         select
            when Kept.Count < Room =>
               accept Put (N : in Positive) do
                  Kept.Count := Kept.Count + 1;
                  Kept.Entries (Kept.Count) := N;
                  Last := Colours.Next (Last);
                  Seen.Append (N);
                  Append (Title, Colour'Image (Last));
               end Put;
         or
            when Kept.Count > 0 =>
               accept Take (N : out Natural) do
                  N := Kept.Entries (Kept.Count) + 100 * Natural (Seen.Length);
                  Kept.Count := Kept.Count - 1;
               end Take;
         or
            terminate;
         end select;
      end loop;
   end Depot;

   task body Ledger is
      Lines : Page;
   begin
      loop
         select
            accept Note (N : in Positive) do
               if Lines.Count < Room then
                  Lines.Count := Lines.Count + 1;
                  Lines.Entries (Lines.Count) := N;
               end if;
            end Note;
         or
            accept Sum (N : out Natural) do
               N := 0;
               for I in 1 .. Lines.Count loop
                  N := N + Lines.Entries (I);
               end loop;
            end Sum;
         or
            terminate;
         end select;
      end loop;
   end Ledger;

end Depots;
