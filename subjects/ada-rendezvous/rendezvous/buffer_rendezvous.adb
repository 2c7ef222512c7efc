with Switches;

package body Buffer_Rendezvous is

   task body Buffer is
      Size        : constant := Items.Buffer_Size;
      Store       : array (0 .. Size - 1) of Items.Item;
      Count       : Natural := 0;
      First, Free : Natural := 0;
   begin
      loop
         select
            when Count < Size =>
               accept Put (X : in Items.Item) do
                  Switches.Note;
                  Store (Free) := X;
               end Put;
               Free := (Free + 1) mod Size;
               Count := Count + 1;
         or
            when Count > 0 =>
               accept Get (X : out Items.Item) do
                  Switches.Note;
                  X := Store (First);
               end Get;
               First := (First + 1) mod Size;
               Count := Count - 1;
         end select;
      end loop;
   end Buffer;

end Buffer_Rendezvous;
