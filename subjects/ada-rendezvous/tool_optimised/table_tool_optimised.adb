with Switches;

package body Table_Tool_Optimised is

   protected body Table is

      function Takes (Call : Table_Call) return Boolean is
      begin
         return Is_Open (Call)
            and then Waiting'Count > 0
            and then Ended = No_Call;
      end Takes;

      procedure Take_Call (Call : in Table_Call) is
      begin
         if Closed then
            raise Tasking_Error;
         end if;
         Is_Open := (others => False);
         Called := Call;
      end Take_Call;

      procedure Release (Call : in Table_Call) is
      begin
         case Call is
            when Await_Call =>
               null;  --  no accept body, so the caller has gone
            when others =>
               Ended := Call;
         end case;
      end Release;

      procedure Finish is
      begin
         Ended := No_Call;
         Way := To_Caller;
         if Has_Failed then
            Has_Failed := False;
            Ada.Exceptions.Reraise_Occurrence (Failure);
         end if;
      end Finish;

      entry Lay (Number : in Place)
         when Closed or else Takes (Lay_Call)
      is
      begin
         Take_Call (Lay_Call);
         Kept.Lay_Number := Number;
         requeue Lay_End;
      end Lay;

      entry Take (Who : in Place)
         when Closed or else Takes (Take_Call)
      is
      begin
         Take_Call (Take_Call);
         Kept.Take_Who := Who;
         requeue Take_End;
      end Take;

      entry Put_Back (Who : in Place)
         when Closed or else Takes (Put_Back_Call)
      is
      begin
         Take_Call (Put_Back_Call);
         Kept.Put_Back_Who := Who;
         requeue Put_Back_End;
      end Put_Back;

      entry Await (for Member in Place)
         when Closed or else (Takes (Await_Call) and then Member = Await_Member)
      is
      begin
         Take_Call (Await_Call);
      end Await;

      entry Lay_End when Ended = Lay_Call is
      begin
         Finish;
      end Lay_End;

      entry Take_End (Who : in Place) when Ended = Take_Call is
         pragma Unreferenced (Who);
         Way_On : constant Table_Way := Way;
      begin
         Finish;
         case Way_On is
            when To_Await =>
               requeue Await (Await_Way);
            when others =>
               null;
         end case;
      end Take_End;

      entry Put_Back_End when Ended = Put_Back_Call is
      begin
         Finish;
      end Put_Back_End;

      function Await_Count (Member : Place) return Natural is
      begin
         return Await (Member)'Count;
      end Await_Count;

      procedure Set_Await_Member (Member : in Place) is
      begin
         Await_Member := Member;
      end Set_Await_Member;

      procedure Set_Await_Way (Member : in Place) is
      begin
         Await_Way := Member;
      end Set_Await_Way;

      entry Accept_Next
        (Open   : in     Table_Open;
         Chosen : in out Table_Call;
         Data   : in out Table_Data) when True is
      begin
         Kept := Data;
         Release (Chosen);
         Is_Open := Open;
         requeue Waiting with abort;
      end Accept_Next;

      procedure Accept_Failed
        (Chosen     : in out Table_Call;
         Occurrence : in     Ada.Exceptions.Exception_Occurrence) is
      begin
         Has_Failed := True;
         Ada.Exceptions.Save_Occurrence (Failure, Occurrence);
         Release (Chosen);
         Chosen := No_Call;
      end Accept_Failed;

      procedure Accept_Requeue
        (Chosen : in out Table_Call;
         Way_On : in     Table_Way;
         Data   : in     Table_Data) is
      begin
         Kept := Data;
         Way := Way_On;
         Release (Chosen);
         Chosen := No_Call;
      end Accept_Requeue;

      procedure Close (Chosen : in out Table_Call; Data : in Table_Data) is
      begin
         Kept := Data;
         Release (Chosen);
         Chosen := No_Call;
         Closed := True;
      end Close;

      entry Waiting
        (Open   : in     Table_Open;
         Chosen : in out Table_Call;
         Data   : in out Table_Data) when Called /= No_Call is
         pragma Unreferenced (Open);
      begin
         Chosen := Called;
         Data := Kept;
         Called := No_Call;
      end Waiting;

   end Table;

   task body Table_Server is
      Seats : Place := Place'Last;
      Taken : Forks := (others => False);
      Chosen : Table_Call := No_Call;
      Data : Table_Data;
   begin
      loop
         Table.Accept_Next
           ((Take_Call | Put_Back_Call | Lay_Call => True,
             others => False),
            Chosen, Data);
         case Chosen is
            when Take_Call =>
               declare
                  Who : Place renames Data.Take_Who;

                  procedure Serve is
                  begin
                     Switches.Note;
                     if not Both_Free (Taken, Who, Seats) then
                        Table.Set_Await_Way (Who);
                        Table.Accept_Requeue (Chosen, To_Await, Data);
                        return;
                     end if;
                     Taken (Who) := True;
                     Taken (Right_Of (Who, Seats)) := True;
                  end Serve;
               begin
                  Serve;
               exception
                  when Occurrence : others =>
                     Table.Accept_Failed (Chosen, Occurrence);
                     raise;
               end;
            when Put_Back_Call =>
               declare
                  Who : Place renames Data.Put_Back_Who;
               begin
                  Switches.Note;
                  Taken (Who) := False;
                  Taken (Right_Of (Who, Seats)) := False;
                  --  The forks go on to the neighbours who wait for them
                  if Table.Await_Count (Left_Of (Who, Seats)) > 0
                    and then Both_Free (Taken, Left_Of (Who, Seats), Seats)
                  then
                     Table.Set_Await_Member (Left_Of (Who, Seats));
                     declare
                        Inner_Chosen : Table_Call := No_Call;
                     begin
                        Table.Accept_Next
                          ((Await_Call => True,
                            others => False),
                           Inner_Chosen, Data);
                     end;
                     Taken (Left_Of (Who, Seats)) := True;
                     Taken (Who) := True;
                  end if;
                  if Table.Await_Count (Right_Of (Who, Seats)) > 0
                    and then Both_Free (Taken, Right_Of (Who, Seats), Seats)
                  then
                     Table.Set_Await_Member (Right_Of (Who, Seats));
                     declare
                        Inner_Chosen : Table_Call := No_Call;
                     begin
                        Table.Accept_Next
                          ((Await_Call => True,
                            others => False),
                           Inner_Chosen, Data);
                     end;
                     Taken (Right_Of (Who, Seats)) := True;
                     Taken (Right_Of (Right_Of (Who, Seats), Seats)) := True;
                  end if;
               exception
                  when Occurrence : others =>
                     Table.Accept_Failed (Chosen, Occurrence);
                     raise;
               end;
            when Lay_Call =>
               declare
                  Number : Place renames Data.Lay_Number;
               begin
                  Seats := Number;
               end;
            when others =>
               null;
         end case;
      end loop;
   exception
      when others =>
         Table.Close (Chosen, Data);
         raise;
   end Table_Server;

end Table_Tool_Optimised;
