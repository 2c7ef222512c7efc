with Switches;

package body Table_Hand is

   protected Table is
      procedure Lay (Number : in Place);
      entry Take (Place);
      procedure Put_Back (Who : in Place);
   private
      Seats : Place := Place'Last;
      Taken : Forks := (others => False);
   end Table;

   protected body Table is

      procedure Lay (Number : in Place) is
      begin
         Seats := Number;
      end Lay;

      entry Take (for Who in Place) when Both_Free (Taken, Who, Seats) is
      begin
         Switches.Note;
         Taken (Who) := True;
         Taken (Right_Of (Who, Seats)) := True;
      end Take;

      procedure Put_Back (Who : in Place) is
      begin
         Switches.Note;
         Taken (Who) := False;
         Taken (Right_Of (Who, Seats)) := False;
      end Put_Back;

   end Table;

   procedure Lay (Number : in Place) is
   begin
      Table.Lay (Number);
   end Lay;

   procedure Take (Who : in Place) is
   begin
      Table.Take (Who);
   end Take;

   procedure Put_Back (Who : in Place) is
   begin
      Table.Put_Back (Who);
   end Put_Back;

end Table_Hand;
