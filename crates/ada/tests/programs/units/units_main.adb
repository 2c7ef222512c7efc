with Stores; use Stores;

procedure Units_Main is
   package Integer_Buffers is new Buffers (Integer, 1);
   B : Integer_Buffers.Buffer;
   I : Integer;
   X : Item;
begin
   for N in Item range 1 .. 3 loop
      Store.Put (N);
   end loop;
   select
      Stores.Store.Put (4);
   else
      Show (0);
   end select;
   Store.Get (X);
   Show (X);
   B.Put (7);
   B.Get (I);
   Show (Item (I));
   Store.Close;
end Units_Main;
