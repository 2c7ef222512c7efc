with General_Rendezvous;
with General_Selector;
with Switches;

package body Table_General is

   type Alternative is (Take_Entry, Put_Back_Entry, Lay_Entry);

   type Guards is array (Alternative) of Boolean;

   type No_Result is null record;

   Nothing : constant No_Result := (null record);

   package Scheme is new General_Rendezvous (In_Parameters => Place, Out_Parameters => No_Result);

   package Selection is new General_Selector (Scheme, Alternative, Guards);
   use Selection;

   Await : array (Place) of aliased Scheme.Rendezvous;

   task Table;

   procedure Call (Its_Entry : Alternative; X : in Place) is
      Result : No_Result;
   begin
      Selector.Call (Its_Entry) (X, Result);
   end Call;

   procedure Lay (Number : in Place) is
   begin
      Call (Lay_Entry, Number);
   end Lay;

   procedure Take (Who : in Place) is
   begin
      Call (Take_Entry, Who);
   end Take;

   procedure Put_Back (Who : in Place) is
   begin
      Call (Put_Back_Entry, Who);
   end Put_Back;

   procedure Accept_Await (Who : in Place) is
      Ignored : Place;
   begin
      Await (Who).Accept_Begin (Ignored);
      Await (Who).Accept_End (Nothing);
   end Accept_Await;

   task body Table is
      Seats  : Place := Place'Last;
      Taken  : Forks := (others => False);
      Who    : Place;
      Chosen : Alternative;
   begin
      loop
         Selector.Acceptor ((others => True), Chosen);
         Entries (Chosen).Accept_Begin (Who);
         Switches.Note;
         case Chosen is
            when Take_Entry =>
               if not Both_Free (Taken, Who, Seats) then
                  Entries (Take_Entry).Accept_End (Nothing, Requeue_To => Await (Who)'Access);
               else
                  Taken (Who) := True;
                  Taken (Right_Of (Who, Seats)) := True;
                  Entries (Take_Entry).Accept_End (Nothing);
               end if;
            when Put_Back_Entry =>
               Taken (Who) := False;
               Taken (Right_Of (Who, Seats)) := False;
               if Await (Left_Of (Who, Seats)).Is_Called and then Both_Free (Taken, Left_Of (Who, Seats), Seats) then
                  Accept_Await (Left_Of (Who, Seats));
                  Taken (Left_Of (Who, Seats)) := True;
                  Taken (Who) := True;
               end if;
               if Await (Right_Of (Who, Seats)).Is_Called and then Both_Free (Taken, Right_Of (Who, Seats), Seats) then
                  Accept_Await (Right_Of (Who, Seats));
                  Taken (Right_Of (Who, Seats)) := True;
                  Taken (Right_Of (Right_Of (Who, Seats), Seats)) := True;
               end if;
               Entries (Put_Back_Entry).Accept_End (Nothing);
            when Lay_Entry =>
               Seats := Who;
               Entries (Lay_Entry).Accept_End (Nothing);
         end case;
      end loop;
   end Table;

end Table_General;
