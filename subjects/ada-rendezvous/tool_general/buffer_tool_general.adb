with Switches;

package body Buffer_Tool_General is

   protected body Buffer_Put_Rendezvous is

      entry Call (X : in Items.Item) when not Called is
      begin
         Kept_X := X;
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin (X : out Items.Item) when Called is
      begin
         X := Kept_X;
      end Accept_Begin;

      procedure Accept_End is
      begin
         Ended := Called;
      end Accept_End;

      procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence) is
      begin
         Has_Failed := True;
         Ada.Exceptions.Save_Occurrence (Failure, Occurrence);
         Ended := True;
      end Accept_Failed;

      entry Queue when Ended is
      begin
         Called := False;
         Ended := False;
         if Has_Failed then
            Has_Failed := False;
            Ada.Exceptions.Reraise_Occurrence (Failure);
         end if;
      end Queue;

   end Buffer_Put_Rendezvous;

   protected body Buffer_Get_Rendezvous is

      entry Call (X : out Items.Item) when not Called is
      begin
         Kept_X := X;
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin (X : out Items.Item) when Called is
      begin
         X := Kept_X;
      end Accept_Begin;

      procedure Accept_End (X : in Items.Item) is
      begin
         Kept_X := X;
         Ended := Called;
      end Accept_End;

      procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence) is
      begin
         Has_Failed := True;
         Ada.Exceptions.Save_Occurrence (Failure, Occurrence);
         Ended := True;
      end Accept_Failed;

      entry Queue (X : out Items.Item) when Ended is
      begin
         Called := False;
         Ended := False;
         if Has_Failed then
            Has_Failed := False;
            Ada.Exceptions.Reraise_Occurrence (Failure);
         end if;
         X := Kept_X;
      end Queue;

   end Buffer_Get_Rendezvous;

   protected body Buffer is

      function Takes (Call : Buffer_Call) return Boolean is
      begin
         return Is_Open (Call)
            and then Waiting'Count > 0;
      end Takes;

      procedure Take (Call : in Buffer_Call) is
      begin
         if Closed then
            raise Tasking_Error;
         end if;
         Is_Open := (others => False);
         Called := Call;
      end Take;

      entry Put (X : in Items.Item)
         when Closed or else Takes (Put_Call)
      is
      begin
         Take (Put_Call);
         requeue Buffer_Put.Call;
      end Put;

      entry Get (X : out Items.Item)
         when Closed or else Takes (Get_Call)
      is
      begin
         Take (Get_Call);
         requeue Buffer_Get.Call;
      end Get;

      entry Accept_Next
        (Open   : in  Buffer_Open;
         Chosen : out Buffer_Call) when True is
      begin
         if Open = Buffer_Open'(others => False) then
            raise Program_Error;  --  all alternatives are closed
         end if;
         Is_Open := Open;
         requeue Waiting with abort;
      end Accept_Next;

      procedure Close is
      begin
         Closed := True;
      end Close;

      entry Waiting
        (Open   : in  Buffer_Open;
         Chosen : out Buffer_Call) when Called /= No_Call is
         pragma Unreferenced (Open);
      begin
         Chosen := Called;
         Called := No_Call;
      end Waiting;

   end Buffer;

   task body Buffer_Server is
      Size        : constant := Items.Buffer_Size;
      Store       : array (0 .. Size - 1) of Items.Item;
      Count       : Natural := 0;
      First, Free : Natural := 0;
      Chosen : Buffer_Call;
   begin
      loop
         Buffer.Accept_Next
           ((Put_Call => Count < Size,
             Get_Call => Count > 0,
             others => False),
            Chosen);
         case Chosen is
            when Put_Call =>
               declare
                  X : Items.Item;
               begin
                  Buffer_Put.Accept_Begin (X);
                  begin
                     Switches.Note;
                     Store (Free) := X;
                  exception
                     when Occurrence : others =>
                        Buffer_Put.Accept_Failed (Occurrence);
                        raise;
                  end;
                  Buffer_Put.Accept_End;
               end;
               Free := (Free + 1) mod Size;
               Count := Count + 1;
            when Get_Call =>
               declare
                  X : Items.Item;
               begin
                  Buffer_Get.Accept_Begin (X);
                  begin
                     Switches.Note;
                     X := Store (First);
                  exception
                     when Occurrence : others =>
                        Buffer_Get.Accept_Failed (Occurrence);
                        raise;
                  end;
                  Buffer_Get.Accept_End (X);
               end;
               First := (First + 1) mod Size;
               Count := Count - 1;
            when others =>
               null;
         end case;
      end loop;
   exception
      when others =>
         Buffer.Close;
         raise;
   end Buffer_Server;

end Buffer_Tool_General;
