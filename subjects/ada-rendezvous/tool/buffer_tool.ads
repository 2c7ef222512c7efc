--  A buffer of ten items, kept by a task

with Items;

package Buffer_Tool is

   Size        : constant := Items.Buffer_Size;
   type Store_Array is array (0 .. Size - 1) of Items.Item;

   --  Was task Buffer, which did nothing but serve these calls (antiphon translate)
   protected Buffer is
      entry Put (X : in Items.Item);
      entry Get (X : out Items.Item);
   private
      Store : Store_Array;
      Count       : Natural := 0;
      First, Free : Natural := 0;
   end Buffer;

end Buffer_Tool;
