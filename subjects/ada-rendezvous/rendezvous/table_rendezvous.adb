with Switches;

package body Table_Rendezvous is

   task body Table is
      Seats : Place := Place'Last;
      Taken : Forks := (others => False);
   begin
      loop
         select
            accept Take (Who : in Place) do
               Switches.Note;
               if not Both_Free (Taken, Who, Seats) then
                  requeue Await (Who);
               end if;
               Taken (Who) := True;
               Taken (Right_Of (Who, Seats)) := True;
            end Take;
         or
            accept Put_Back (Who : in Place) do
               Switches.Note;
               Taken (Who) := False;
               Taken (Right_Of (Who, Seats)) := False;
               --  The forks go on to the neighbours who wait for them
               if Await (Left_Of (Who, Seats))'Count > 0
                 and then Both_Free (Taken, Left_Of (Who, Seats), Seats)
               then
                  accept Await (Left_Of (Who, Seats));
                  Taken (Left_Of (Who, Seats)) := True;
                  Taken (Who) := True;
               end if;
               if Await (Right_Of (Who, Seats))'Count > 0
                 and then Both_Free (Taken, Right_Of (Who, Seats), Seats)
               then
                  accept Await (Right_Of (Who, Seats));
                  Taken (Right_Of (Who, Seats)) := True;
                  Taken (Right_Of (Right_Of (Who, Seats), Seats)) := True;
               end if;
            end Put_Back;
         or
            accept Lay (Number : in Place) do
               Seats := Number;
            end Lay;
         end select;
      end loop;
   end Table;

end Table_Rendezvous;
