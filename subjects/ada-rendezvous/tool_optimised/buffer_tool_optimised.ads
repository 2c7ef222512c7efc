--  A buffer of ten items, kept by a task

with Ada.Exceptions;
with Items;

package Buffer_Tool_Optimised is

   --  Was task Buffer. Its clients call the protected object Buffer, and
   --  Buffer_Server accepts their calls (antiphon translate)
   type Buffer_Call is (No_Call, Put_Call, Get_Call);
   type Buffer_Open is array (Buffer_Call) of Boolean;
   type Buffer_Data is record
      Put_X : Items.Item;
      Get_X : Items.Item;
   end record;

   protected Buffer is
      entry Put (X : in Items.Item);
      entry Get (X : out Items.Item);

      --  For Buffer_Server alone:
      entry Accept_Next
        (Open   : in     Buffer_Open;
         Chosen : in out Buffer_Call;
         Data   : in out Buffer_Data);
      procedure Accept_Failed
        (Chosen     : in out Buffer_Call;
         Occurrence : in     Ada.Exceptions.Exception_Occurrence);
      procedure Close (Chosen : in out Buffer_Call; Data : in Buffer_Data);
   private
      entry Put_End;
      entry Get_End (X : out Items.Item);
      entry Waiting
        (Open   : in     Buffer_Open;
         Chosen : in out Buffer_Call;
         Data   : in out Buffer_Data);
      Is_Open    : Buffer_Open := (others => False);
      Called     : Buffer_Call := No_Call;
      Ended      : Buffer_Call := No_Call;
      Kept       : Buffer_Data;
      Has_Failed : Boolean := False;
      Failure    : Ada.Exceptions.Exception_Occurrence;
      Closed     : Boolean := False;
   end Buffer;

   task Buffer_Server;

end Buffer_Tool_Optimised;
