package body Stores is

   Capacity : constant := 3;

   procedure Show (It : in Item) is
   begin
      Ada.Text_IO.Put_Line (Item'Image (It));
   end Show;

   task body Store is separate;

   package body Buffers is

      task body Buffer is
         Kept   : Element;
         Filled : Natural := 0;
      begin
         loop
            select
               when Filled < Size =>
                  accept Put (E : in Element) do
                     Kept := E;
                     Filled := Filled + 1;
                  end Put;
            or
               when Filled > 0 =>
                  accept Get (E : out Element) do
                     E := Kept;
                     Filled := Filled - 1;
                  end Get;
            or
               terminate;
            end select;
         end loop;
      end Buffer;

   end Buffers;

end Stores;
