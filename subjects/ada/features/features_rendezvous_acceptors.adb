with Features_Tally; use Features_Tally;
with Kit;            use Kit;

package body Features_Rendezvous_Acceptors is

   procedure Served with Inline;
   --  What each accept body does: it runs while the caller waits, so the report and the count are complete when the
   --  call returns

   ------------
   -- Served --
   ------------

   procedure Served is
   begin
      if Kit.Reporting then
         Kit.Thread_Reports;
      end if;
      Done := Done + 1;
   end Served;

   ---------------------
   -- Simple_Acceptor --
   ---------------------

   task body Simple_Acceptor is
   begin
      Kit.Thread_Begins;
      loop
         accept Call do
            Served;
         end Call;
      end loop;
   end Simple_Acceptor;

   -----------------------
   -- Bodiless_Acceptor --
   -----------------------

   task body Bodiless_Acceptor is
   begin
      Kit.Thread_Begins;
      loop
         accept Call;
         Served;
      end loop;
   end Bodiless_Acceptor;

   -----------------------
   -- Select_2_Acceptor --
   -----------------------

   task body Select_2_Acceptor is
   begin
      Kit.Thread_Begins;
      loop
         select
            accept Call_1 do
               Served;
            end Call_1;
         or
            accept Call_2 do
               Served;
            end Call_2;
         end select;
      end loop;
   end Select_2_Acceptor;

   ------------------------
   -- Select_10_Acceptor --
   ------------------------

   task body Select_10_Acceptor is
   begin
      Kit.Thread_Begins;
      loop
         select
            accept Call_1 do
               Served;
            end Call_1;
         or
            accept Call_2 do
               Served;
            end Call_2;
         or
            accept Call_3 do
               Served;
            end Call_3;
         or
            accept Call_4 do
               Served;
            end Call_4;
         or
            accept Call_5 do
               Served;
            end Call_5;
         or
            accept Call_6 do
               Served;
            end Call_6;
         or
            accept Call_7 do
               Served;
            end Call_7;
         or
            accept Call_8 do
               Served;
            end Call_8;
         or
            accept Call_9 do
               Served;
            end Call_9;
         or
            accept Call_10 do
               Served;
            end Call_10;
         end select;
      end loop;
   end Select_10_Acceptor;

   -------------------
   -- Busy_Acceptor --
   -------------------

   task body Busy_Acceptor is
   begin
      Kit.Thread_Begins;
      accept Other;
      accept Call;
   end Busy_Acceptor;

end Features_Rendezvous_Acceptors;
