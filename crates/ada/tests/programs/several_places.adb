--  The same entry accepted in several places; a case; a loop that may go round without waiting

with Ada.Text_IO; use Ada.Text_IO;

procedure Several_Places is

   type Mode is (Single, Double, Skip);

   type Plan is array (1 .. 5) of Mode;

   task Server is
      entry Configure (P : in Plan);
      entry Signal (Value : in Integer; Count : out Natural);
      entry Finish;
   end Server;

   task body Server is
      Current : Plan;
      Seen    : Natural := 0;
   begin
      accept Configure (P : in Plan) do
         Current := P;
      end Configure;
      for I in Current'Range loop
         case Current (I) is
            when Single =>
               accept Signal (Value : in Integer; Count : out Natural) do
                  Seen := Seen + Value;
                  Count := Seen;
               end Signal;
            when Double =>
               accept Signal (Value : in Integer; Count : out Natural) do
                  Seen := Seen + 2 * Value;
                  Count := Seen;
               end Signal;
               accept Signal (Value : in Integer; Count : out Natural) do
                  Seen := Seen + 3 * Value;
                  Count := Seen;
               end Signal;
            when Skip =>
               null;
         end case;
      end loop;
      accept Finish;
   end Server;

   Count : Natural;
begin
   Server.Configure ((Single, Skip, Double, Skip, Single));
   for I in 1 .. 4 loop
      Server.Signal (I, Count);
      Put_Line (Natural'Image (Count));
   end loop;
   select
      Server.Signal (5, Count);
      Put_Line ("a signal too many");
   else
      Put_Line ("no more signals");
   end select;
   Server.Finish;
end Several_Places;
