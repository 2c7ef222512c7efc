with Switches;

package body Table_Servers is

   protected body Table is

      entry Lay (Number : in Place) when Stage = 0 is
      begin
         Seats := Number;
      end Lay;

      entry Take (Who : in Place) when Stage = 0 is
      begin
         Switches.Note;
         if not Both_Free (Taken, Who, Seats) then
            requeue Await (Who);
         end if;
         Taken (Who) := True;
         Taken (Right_Of (Who, Seats)) := True;
      end Take;

      entry Put_Back (Who : in Place) when Stage = 0 is
      begin
         Switches.Note;
         Taken (Who) := False;
         Taken (Right_Of (Who, Seats)) := False;
         if Await (Left_Of (Who, Seats))'Count > 0 and then Both_Free (Taken, Left_Of (Who, Seats), Seats) then
            Stage := Stage + 1;
            Given (Left_Of (Who, Seats)) := True;
            Taken (Left_Of (Who, Seats)) := True;
            Taken (Who) := True;
         end if;
         if Await (Right_Of (Who, Seats))'Count > 0 and then Both_Free (Taken, Right_Of (Who, Seats), Seats) then
            Stage := Stage + 1;
            Given (Right_Of (Who, Seats)) := True;
            Taken (Right_Of (Who, Seats)) := True;
            Taken (Right_Of (Right_Of (Who, Seats), Seats)) := True;
         end if;
      end Put_Back;

      entry Await (for Who in Place) when Given (Who) is
      begin
         Given (Who) := False;
         Stage := Stage - 1;
      end Await;

   end Table;

end Table_Servers;
