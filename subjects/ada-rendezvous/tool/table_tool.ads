--  The table at which philosophers dine, kept by a task: forks are taken in pairs or not at all

with Places; use Places;

package Table_Tool is

   --  Where task Table would be waiting
   type Table_Stage is (Serving, Awaiting_Await, Awaiting_Await_2);

   --  Was task Table, which did nothing but serve these calls (antiphon translate)
   protected Table is
      entry Lay (Number : in Place);
      --  For so many philosophers; called while nobody dines
      entry Take (Who : in Place);
      --  Returns when the philosopher has both forks
      entry Put_Back (Who : in Place);
   private
      entry Await (Place);
      Stage : Table_Stage := Serving;
      Seats : Place := Place'Last;
      Taken : Forks := (others => False);
      Put_Back_Who : Place;
   end Table;

end Table_Tool;
