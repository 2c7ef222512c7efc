--  The buffer by the scheme for accepting servers: each accept becomes an entry, its guard the barrier. All accepts are
--  in one select, so there is but one stage, and it needs no counter

with Items; use Items;

package Buffer_Servers is

   type Item_Store is array (0 .. Buffer_Size - 1) of Item;

   protected Buffer is
      entry Put (X : in Item);
      entry Get (X : out Item);
   private
      Store       : Item_Store;
      Count       : Natural := 0;
      First, Free : Natural := 0;
   end Buffer;

end Buffer_Servers;
