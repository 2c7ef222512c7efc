--  The table at which philosophers dine: forks are taken in pairs or not at all. A philosopher whose forks are not free
--  waits at an entry of his own

with Places; use Places;

package Table_Hand is

   procedure Lay (Number : in Place);
   --  For so many philosophers; called while nobody dines

   procedure Take (Who : in Place);
   --  Returns when the philosopher has both forks

   procedure Put_Back (Who : in Place);

end Table_Hand;
