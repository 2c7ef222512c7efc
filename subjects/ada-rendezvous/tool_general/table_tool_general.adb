with Switches;

package body Table_Tool_General is

   protected body Table_Lay_Rendezvous is

      entry Call (Number : in Place) when not Called is
      begin
         Kept_Number := Number;
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin (Number : out Place) when Called is
      begin
         Number := Kept_Number;
      end Accept_Begin;

      procedure Accept_End is
      begin
         Ended := Called;
      end Accept_End;

      entry Queue when Ended is
      begin
         Called := False;
         Ended := False;
      end Queue;

   end Table_Lay_Rendezvous;

   protected body Table_Take_Rendezvous is

      entry Call (Who : in Place) when not Called is
      begin
         Kept_Who := Who;
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin (Who : out Place) when Called is
      begin
         Who := Kept_Who;
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

      procedure Accept_Requeue (Way_On : in Table_Way) is
      begin
         Way := Way_On;
         Ended := Called;
      end Accept_Requeue;

      entry Queue (Who : in Place) when Ended is
         pragma Unreferenced (Who);
         Way_On : constant Table_Way := Way;
      begin
         Called := False;
         Ended := False;
         Way := To_Caller;
         if Has_Failed then
            Has_Failed := False;
            Ada.Exceptions.Reraise_Occurrence (Failure);
         end if;
         case Way_On is
            when To_Await =>
               requeue Table.Await (Table.Await_Way_On);
            when others =>
               null;
         end case;
      end Queue;

   end Table_Take_Rendezvous;

   protected body Table_Put_Back_Rendezvous is

      entry Call (Who : in Place) when not Called is
      begin
         Kept_Who := Who;
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin (Who : out Place) when Called is
      begin
         Who := Kept_Who;
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

   end Table_Put_Back_Rendezvous;

   protected body Table_Await_Rendezvous is

      entry Call when not Called is
      begin
         Called := True;
         requeue Queue;
      end Call;

      entry Accept_Begin when Called is
      begin
         null;
      end Accept_Begin;

      procedure Accept_End is
      begin
         Ended := Called;
      end Accept_End;

      entry Queue when Ended is
      begin
         Called := False;
         Ended := False;
      end Queue;

   end Table_Await_Rendezvous;

   protected body Table is

      function Takes (Call : Table_Call) return Boolean is
      begin
         return Is_Open (Call)
            and then Waiting'Count > 0;
      end Takes;

      procedure Take_Call (Call : in Table_Call) is
      begin
         if Closed then
            raise Tasking_Error;
         end if;
         Is_Open := (others => False);
         Called := Call;
      end Take_Call;

      entry Lay (Number : in Place)
         when Closed or else Takes (Lay_Call)
      is
      begin
         Take_Call (Lay_Call);
         requeue Table_Lay.Call;
      end Lay;

      entry Take (Who : in Place)
         when Closed or else Takes (Take_Call)
      is
      begin
         Take_Call (Take_Call);
         requeue Table_Take.Call;
      end Take;

      entry Put_Back (Who : in Place)
         when Closed or else Takes (Put_Back_Call)
      is
      begin
         Take_Call (Put_Back_Call);
         requeue Table_Put_Back.Call;
      end Put_Back;

      entry Await (for Member in Place)
         when Closed or else (Takes (Await_Call) and then Member = Await_Member)
      is
      begin
         Take_Call (Await_Call);
         requeue Table_Await.Call;
      end Await;

      function Await_Count (Member : Place) return Natural is
      begin
         return Await (Member)'Count;
      end Await_Count;

      function Await_Way_On return Place is
      begin
         return Await_Way;
      end Await_Way_On;

      procedure Set_Await_Member (Member : in Place) is
      begin
         Await_Member := Member;
      end Set_Await_Member;

      procedure Set_Await_Way (Member : in Place) is
      begin
         Await_Way := Member;
      end Set_Await_Way;

      entry Accept_Next
        (Open   : in  Table_Open;
         Chosen : out Table_Call) when True is
      begin
         Is_Open := Open;
         requeue Waiting with abort;
      end Accept_Next;

      procedure Close is
      begin
         Closed := True;
      end Close;

      entry Waiting
        (Open   : in  Table_Open;
         Chosen : out Table_Call) when Called /= No_Call is
         pragma Unreferenced (Open);
      begin
         Chosen := Called;
         Called := No_Call;
      end Waiting;

   end Table;

   task body Table_Server is
      Seats : Place := Place'Last;
      Taken : Forks := (others => False);
      Chosen : Table_Call;
   begin
      loop
         Table.Accept_Next
           ((Take_Call | Put_Back_Call | Lay_Call => True,
             others => False),
            Chosen);
         case Chosen is
            when Take_Call =>
               declare
                  Who : Place;
               begin
                  Table_Take.Accept_Begin (Who);
                  declare
                     procedure Serve is
                     begin
                        Switches.Note;
                        if not Both_Free (Taken, Who, Seats) then
                           Table.Set_Await_Way (Who);
                           Table_Take.Accept_Requeue (To_Await);
                           return;
                        end if;
                        Taken (Who) := True;
                        Taken (Right_Of (Who, Seats)) := True;
                     end Serve;
                  begin
                     Serve;
                  exception
                     when Occurrence : others =>
                        Table_Take.Accept_Failed (Occurrence);
                        raise;
                  end;
                  Table_Take.Accept_End;
               end;
            when Put_Back_Call =>
               declare
                  Who : Place;
               begin
                  Table_Put_Back.Accept_Begin (Who);
                  begin
                     Switches.Note;
                     Taken (Who) := False;
                     Taken (Right_Of (Who, Seats)) := False;
                     --  The forks go on to the neighbours who wait for them
                     if Table.Await_Count (Left_Of (Who, Seats)) > 0
                       and then Both_Free (Taken, Left_Of (Who, Seats), Seats)
                     then
                        Table.Set_Await_Member (Left_Of (Who, Seats));
                        Table.Accept_Next
                          ((Await_Call => True,
                            others => False),
                           Chosen);
                        Table_Await.Accept_Begin;
                        Table_Await.Accept_End;
                        Taken (Left_Of (Who, Seats)) := True;
                        Taken (Who) := True;
                     end if;
                     if Table.Await_Count (Right_Of (Who, Seats)) > 0
                       and then Both_Free (Taken, Right_Of (Who, Seats), Seats)
                     then
                        Table.Set_Await_Member (Right_Of (Who, Seats));
                        Table.Accept_Next
                          ((Await_Call => True,
                            others => False),
                           Chosen);
                        Table_Await.Accept_Begin;
                        Table_Await.Accept_End;
                        Taken (Right_Of (Who, Seats)) := True;
                        Taken (Right_Of (Right_Of (Who, Seats), Seats)) := True;
                     end if;
                  exception
                     when Occurrence : others =>
                        Table_Put_Back.Accept_Failed (Occurrence);
                        raise;
                  end;
                  Table_Put_Back.Accept_End;
               end;
            when Lay_Call =>
               declare
                  Number : Place;
               begin
                  Table_Lay.Accept_Begin (Number);
                  Seats := Number;
                  Table_Lay.Accept_End;
               end;
            when others =>
               null;
         end case;
      end loop;
   exception
      when others =>
         Table.Close;
         raise;
   end Table_Server;

end Table_Tool_General;
