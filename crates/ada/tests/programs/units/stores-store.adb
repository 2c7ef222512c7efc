separate (Stores)
task body Store is
   Kept  : array (1 .. 3) of Item;
   Count : Natural := 0;
begin
   loop
      select
         when Count < Capacity =>
            accept Put (It : in Item) do
               Count := Count + 1;
               Kept (Count) := It;
            end Put;
      or
         when Count > 0 =>
            accept Get (It : out Item) do
               It := Kept (Count);
               Count := Count - 1;
            end Get;
      or
         accept Close;
         exit;
      end select;
   end loop;
   Show (Item (Count));
end Store;
