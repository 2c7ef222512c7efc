package body Maps is

   function First return Word_Maps.Map is
   begin
      return Map : Word_Maps.Map do
         for Word of Words loop
            Map.Insert (Word.all, 0);
         end loop;
      end return;
   end First;

   procedure Add_One (Map : in out Word_Maps.Map; Key : String) is
      Value : Team.Count renames Map (Key);  --  looked up once
   begin
      Value := Value + 1;
   end Add_One;

   function Sum (Map : Word_Maps.Map) return Team.Count is
   begin
      return Sum : Team.Count := 0 do
         for Value of Map loop
            Sum := Sum + Value;
         end loop;
      end return;
   end Sum;

begin
   for I in Words'Range loop
      Words (I) := new String'("key " & Team.Image (Team.Count (I)));
   end loop;
end Maps;
