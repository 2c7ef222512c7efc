--  A buffer of ten items

with Items; use Items;

package Buffer_Hand is

   subtype Place is Natural range 0 .. Buffer_Size - 1;

   type Item_Store is array (Place) of Item;

   protected Buffer is
      entry Put (X : in Item);
      entry Get (X : out Item);
   private
      Store       : Item_Store;
      Count       : Natural range 0 .. Buffer_Size := 0;
      First, Free : Place := 0;
   end Buffer;

end Buffer_Hand;
