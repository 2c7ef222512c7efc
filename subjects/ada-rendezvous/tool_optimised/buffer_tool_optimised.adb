with Switches;

package body Buffer_Tool_Optimised is

   protected body Buffer is

      function Takes (Call : Buffer_Call) return Boolean is
      begin
         return Is_Open (Call)
            and then Waiting'Count > 0
            and then Ended = No_Call;
      end Takes;

      procedure Take (Call : in Buffer_Call) is
      begin
         if Closed then
            raise Tasking_Error;
         end if;
         Is_Open := (others => False);
         Called := Call;
      end Take;

      procedure Release (Call : in Buffer_Call) is
      begin
         Ended := Call;
      end Release;

      procedure Finish is
      begin
         Ended := No_Call;
         if Has_Failed then
            Has_Failed := False;
            Ada.Exceptions.Reraise_Occurrence (Failure);
         end if;
      end Finish;

      entry Put (X : in Items.Item)
         when Closed or else Takes (Put_Call)
      is
      begin
         Take (Put_Call);
         Kept.Put_X := X;
         requeue Put_End;
      end Put;

      entry Get (X : out Items.Item)
         when Closed or else Takes (Get_Call)
      is
      begin
         Take (Get_Call);
         Kept.Get_X := X;
         requeue Get_End;
      end Get;

      entry Put_End when Ended = Put_Call is
      begin
         Finish;
      end Put_End;

      entry Get_End (X : out Items.Item) when Ended = Get_Call is
      begin
         Finish;
         X := Kept.Get_X;
      end Get_End;

      entry Accept_Next
        (Open   : in     Buffer_Open;
         Chosen : in out Buffer_Call;
         Data   : in out Buffer_Data) when True is
      begin
         if Open = Buffer_Open'(others => False) then
            raise Program_Error;  --  all alternatives are closed
         end if;
         Kept := Data;
         Release (Chosen);
         Is_Open := Open;
         requeue Waiting with abort;
      end Accept_Next;

      procedure Accept_Failed
        (Chosen     : in out Buffer_Call;
         Occurrence : in     Ada.Exceptions.Exception_Occurrence) is
      begin
         Has_Failed := True;
         Ada.Exceptions.Save_Occurrence (Failure, Occurrence);
         Release (Chosen);
         Chosen := No_Call;
      end Accept_Failed;

      procedure Close (Chosen : in out Buffer_Call; Data : in Buffer_Data) is
      begin
         Kept := Data;
         Release (Chosen);
         Chosen := No_Call;
         Closed := True;
      end Close;

      entry Waiting
        (Open   : in     Buffer_Open;
         Chosen : in out Buffer_Call;
         Data   : in out Buffer_Data) when Called /= No_Call is
         pragma Unreferenced (Open);
      begin
         Chosen := Called;
         Data := Kept;
         Called := No_Call;
      end Waiting;

   end Buffer;

   task body Buffer_Server is
      Size        : constant := Items.Buffer_Size;
      Store       : array (0 .. Size - 1) of Items.Item;
      Count       : Natural := 0;
      First, Free : Natural := 0;
      Chosen : Buffer_Call := No_Call;
      Data : Buffer_Data;
   begin
      loop
         Buffer.Accept_Next
           ((Put_Call => Count < Size,
             Get_Call => Count > 0,
             others => False),
            Chosen, Data);
         case Chosen is
            when Put_Call =>
               declare
                  X : Items.Item renames Data.Put_X;
               begin
                  Switches.Note;
                  Store (Free) := X;
               exception
                  when Occurrence : others =>
                     Buffer.Accept_Failed (Chosen, Occurrence);
                     raise;
               end;
               Free := (Free + 1) mod Size;
               Count := Count + 1;
            when Get_Call =>
               declare
                  X : Items.Item renames Data.Get_X;
               begin
                  Switches.Note;
                  X := Store (First);
               exception
                  when Occurrence : others =>
                     Buffer.Accept_Failed (Chosen, Occurrence);
                     raise;
               end;
               First := (First + 1) mod Size;
               Count := Count - 1;
            when others =>
               null;
         end case;
      end loop;
   exception
      when others =>
         Buffer.Close (Chosen, Data);
         raise;
   end Buffer_Server;

end Buffer_Tool_Optimised;
