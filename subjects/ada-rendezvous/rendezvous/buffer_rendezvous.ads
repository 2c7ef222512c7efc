--  A buffer of ten items, kept by a task

with Items;

package Buffer_Rendezvous is

   task Buffer is
      entry Put (X : in Items.Item);
      entry Get (X : out Items.Item);
   end Buffer;

end Buffer_Rendezvous;
