with Switches;

package body Table_Tool is

   protected body Table is

      entry Lay (Number : in Place) when Stage = Serving is
      begin
         Seats := Number;
      end Lay;

      entry Take (Who : in Place) when Stage = Serving is
      begin
         Switches.Note;
         if not Both_Free (Taken, Who, Seats) then
            requeue Await (Who);
         end if;
         Taken (Who) := True;
         Taken (Right_Of (Who, Seats)) := True;
      end Take;

      entry Put_Back (Who : in Place) when Stage = Serving is
      begin
         Put_Back_Who := Who;
         Switches.Note;
         Taken (Who) := False;
         Taken (Right_Of (Who, Seats)) := False;
         --  The forks go on to the neighbours who wait for them
         if Await (Left_Of (Who, Seats))'Count > 0 and then Both_Free (Taken, Left_Of (Who, Seats), Seats) then
            Stage := Awaiting_Await;
         else
            if Await (Right_Of (Put_Back_Who, Seats))'Count > 0 and then Both_Free (Taken, Right_Of (Put_Back_Who, Seats), Seats) then
               Stage := Awaiting_Await_2;
            end if;
         end if;
      end Put_Back;

      entry Await (for Index in Place)
        when (Stage = Awaiting_Await and then Index = Left_Of (Put_Back_Who, Seats))
          or else (Stage = Awaiting_Await_2 and then Index = Right_Of (Put_Back_Who, Seats))
      is
      begin
         if Stage = Awaiting_Await and then Index = Left_Of (Put_Back_Who, Seats) then
            Taken (Left_Of (Put_Back_Who, Seats)) := True;
            Taken (Put_Back_Who) := True;
            if Await (Right_Of (Put_Back_Who, Seats))'Count > 0 and then Both_Free (Taken, Right_Of (Put_Back_Who, Seats), Seats) then
               Stage := Awaiting_Await_2;
            else
               Stage := Serving;
            end if;
         else
            Taken (Right_Of (Put_Back_Who, Seats)) := True;
            Taken (Right_Of (Right_Of (Put_Back_Who, Seats), Seats)) := True;
            Stage := Serving;
         end if;
      end Await;

   end Table;

end Table_Tool;
