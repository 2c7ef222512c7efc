with Ada.Text_IO;

package Stores is

   type Item is range 0 .. 1_000;

   --  Keeps items until they are wanted
   task Store is
      entry Put (It : in Item);
      entry Get (It : out Item);
      entry Close;
   end Store;

   procedure Show (It : in Item);

   generic
      type Element is private;
      Size : Positive;
   package Buffers is
      task type Buffer is
         entry Put (E : in Element);
         entry Get (E : out Element);
      end Buffer;
   end Buffers;

   File : Ada.Text_IO.File_Type;

end Stores;
