with Switches;

package body Table_Optimised is

   type Alternative is (Take_Entry, Put_Back_Entry, Lay_Entry);

   type Chosen_Places is array (Place) of Boolean;

   type Ending is record
      Requeued : Boolean;         --  the caller goes on to Await
      Accepted : Chosen_Places;   --  whose Await was accepted meanwhile
   end record;

   Simple_Ending : constant Ending := (False, (others => False));

   protected Calls is
      entry Call (Alternative) (X : in Place);
      entry Next (How : in Ending; Chosen : out Alternative; X : out Place);
      --  How the rendezvous that goes on ends, if one does; then the next call
      function Awaits (Who : Place) return Boolean;
      --  Await (Who)'Count > 0
   private
      entry Queue (X : in Place);
      entry Await (Place) (X : in Place);
      entry Await_Call (How : in Ending; Chosen : out Alternative; X : out Place);

      Selected : Alternative;
      Caller   : Place;
      Server   : Boolean := False;   --  waits for a call
      Called   : Boolean := False;
      Goes_On  : Boolean := False;
      Ended    : Boolean := False;
      Last     : Ending  := Simple_Ending;
   end Calls;

   task Table;

   -----------
   -- Calls --
   -----------

   protected body Calls is

      entry Call (for Its_Entry in Alternative) (X : in Place) when Server is
      begin
         Server := False;
         Called := True;
         Selected := Its_Entry;
         Caller := X;
         requeue Queue with abort;
      end Call;

      entry Next (How : in Ending; Chosen : out Alternative; X : out Place) when not Ended is
         pragma Unreferenced (Chosen, X);
      begin
         if Goes_On then
            Goes_On := False;
            Ended := True;
            Last := How;
         else
            Server := True;
         end if;
         requeue Await_Call;
      end Next;

      entry Await_Call (How : in Ending; Chosen : out Alternative; X : out Place) when Called is
         pragma Unreferenced (How);
      begin
         Called := False;
         Goes_On := True;
         Chosen := Selected;
         X := Caller;
      end Await_Call;

      entry Queue (X : in Place) when Ended is
      begin
         Ended := False;
         Server := True;
         if Last.Requeued then
            requeue Await (X) with abort;
         end if;
      end Queue;

      entry Await (for Who in Place) (X : in Place) when Last.Accepted (Who) is
         pragma Unreferenced (X);
      begin
         Last.Accepted (Who) := False;
      end Await;

      function Awaits (Who : Place) return Boolean
      is (Await (Who)'Count > 0);

   end Calls;

   procedure Lay (Number : in Place) is
   begin
      Calls.Call (Lay_Entry) (Number);
   end Lay;

   procedure Take (Who : in Place) is
   begin
      Calls.Call (Take_Entry) (Who);
   end Take;

   procedure Put_Back (Who : in Place) is
   begin
      Calls.Call (Put_Back_Entry) (Who);
   end Put_Back;

   -----------
   -- Table --
   -----------

   task body Table is
      Seats  : Place := Place'Last;
      Taken  : Forks := (others => False);
      How    : Ending := Simple_Ending;
      Who    : Place;
      Chosen : Alternative;
   begin
      loop
         Calls.Next (How, Chosen, Who);
         Switches.Note;
         How := Simple_Ending;
         case Chosen is
            when Take_Entry =>
               if not Both_Free (Taken, Who, Seats) then
                  How.Requeued := True;
               else
                  Taken (Who) := True;
                  Taken (Right_Of (Who, Seats)) := True;
               end if;
            when Put_Back_Entry =>
               Taken (Who) := False;
               Taken (Right_Of (Who, Seats)) := False;
               if Calls.Awaits (Left_Of (Who, Seats)) and then Both_Free (Taken, Left_Of (Who, Seats), Seats) then
                  How.Accepted (Left_Of (Who, Seats)) := True;
                  Taken (Left_Of (Who, Seats)) := True;
                  Taken (Who) := True;
               end if;
               if Calls.Awaits (Right_Of (Who, Seats)) and then Both_Free (Taken, Right_Of (Who, Seats), Seats) then
                  How.Accepted (Right_Of (Who, Seats)) := True;
                  Taken (Right_Of (Who, Seats)) := True;
                  Taken (Right_Of (Right_Of (Who, Seats), Seats)) := True;
               end if;
            when Lay_Entry =>
               Seats := Who;
         end case;
      end loop;
   end Table;

end Table_Optimised;
