with Ada.Containers;
with Ada.Strings.Maps; use Ada.Strings.Maps;
with Ada.Text_IO; use Ada.Text_IO;
with Limits;
with Words;

package body Clerks is

   task body Noter is
      Kept   : Unbounded_String;
      Latest : Time := Time_Of (2020, 1, 1);
   begin
      loop
         select
            accept Note (Line : Unbounded_String; On : Time) do
               Latest := On;
               Kept := Kept & Line;
               Put_Line ("noted" & Length (Kept)'Image);
            end Note;
         or
            accept Last (Line : out Unbounded_String; Is_Late : out Boolean) do
               Line := Kept;
               Is_Late := Latest > Time_Of (2021, 1, 1);
            end Last;
         or
            terminate;
         end select;
      end loop;
   end Noter;

   task body Meter is
      Sum   : Ada.Containers.Count_Type := 0;
      Extra : Natural;
   begin
      Extra := Limits.Start_At;
      loop
         select
            accept Add (Amount : Natural) do
               Sum := Ada.Containers."+" (Sum, Ada.Containers.Count_Type (Amount));
            end Add;
         or
            accept Read (Total : out Natural) do
               Words.Say ("read");
               Total := Natural (Sum) + Extra;
            end Read;
         or
            terminate;
         end select;
      end loop;
   end Meter;

   task body Sieve is
      Seen : Character_Set := Null_Set;
   begin
      loop
         select
            accept Drop (Letter : Character; Is_New : out Boolean) do
               Is_New := not Is_In (Letter, Seen);
               Seen := Seen or To_Set (Letter);
            end Drop;
         or
            terminate;
         end select;
      end loop;
   end Sieve;

end Clerks;
