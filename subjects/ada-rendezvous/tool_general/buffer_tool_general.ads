--  A buffer of ten items, kept by a task

with Ada.Exceptions;
with Items;

package Buffer_Tool_General is

   --  Was task Buffer. Its clients call the protected object Buffer, and
   --  Buffer_Server accepts their calls (antiphon translate)
   type Buffer_Call is (No_Call, Put_Call, Get_Call);
   type Buffer_Open is array (Buffer_Call) of Boolean;

   protected type Buffer_Put_Rendezvous is
      entry Call (X : in Items.Item);
      entry Accept_Begin (X : out Items.Item);
      procedure Accept_End;
      procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence);
   private
      entry Queue;
      Called : Boolean := False;
      Ended : Boolean := False;
      Kept_X : Items.Item;
      Has_Failed : Boolean := False;
      Failure : Ada.Exceptions.Exception_Occurrence;
   end Buffer_Put_Rendezvous;

   protected type Buffer_Get_Rendezvous is
      entry Call (X : out Items.Item);
      entry Accept_Begin (X : out Items.Item);
      procedure Accept_End (X : in Items.Item);
      procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence);
   private
      entry Queue (X : out Items.Item);
      Called : Boolean := False;
      Ended : Boolean := False;
      Kept_X : Items.Item;
      Has_Failed : Boolean := False;
      Failure : Ada.Exceptions.Exception_Occurrence;
   end Buffer_Get_Rendezvous;

   Buffer_Put : Buffer_Put_Rendezvous;
   Buffer_Get : Buffer_Get_Rendezvous;

   protected Buffer is
      entry Put (X : in Items.Item);
      entry Get (X : out Items.Item);

      --  For Buffer_Server alone:
      entry Accept_Next (Open : in Buffer_Open; Chosen : out Buffer_Call);
      procedure Close;
   private
      entry Waiting (Open : in Buffer_Open; Chosen : out Buffer_Call);
      Is_Open : Buffer_Open := (others => False);
      Called  : Buffer_Call := No_Call;
      Closed  : Boolean := False;
   end Buffer;

   task Buffer_Server;

end Buffer_Tool_General;
