--  The table at which philosophers dine, kept by a task: forks are taken in pairs or not at all

with Places; use Places;

package Table_Rendezvous is

   task Table is
      entry Lay (Number : in Place);
      --  For so many philosophers; called while nobody dines
      entry Take (Who : in Place);
      --  Returns when the philosopher has both forks
      entry Put_Back (Who : in Place);
   private
      entry Await (Place);
   end Table;

end Table_Rendezvous;
