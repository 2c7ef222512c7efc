--  The table by the scheme for accepting servers. The nested accepts of a neighbour's Await become a stage: Put_Back
--  counts who may go on, and no other entry is open until they have

with Places; use Places;

package Table_Servers is

   type Hand_Overs is array (Place) of Boolean;

   protected Table is
      entry Lay (Number : in Place);
      entry Take (Who : in Place);
      entry Put_Back (Who : in Place);
   private
      entry Await (Place);

      Stage : Natural := 0;
      --  How many accepts of Await are to come; 0: the select
      Given : Hand_Overs := (others => False);
      --  To whom
      Seats : Place := Place'Last;
      Taken : Forks := (others => False);
   end Table;

end Table_Servers;
