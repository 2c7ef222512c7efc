--  Entry families, 'Count in guards, requeue, and one family member accepted at a time

with Ada.Text_IO; use Ada.Text_IO;

procedure Families is

   type Level is (Low, Middle, High);

   task Server is
      entry Ask (Level) (Item : in Integer);
      entry Report;
      entry Release;
   end Server;

   task body Server is
      Sum    : Integer := 0;
      Is_Due : Boolean := False;
   begin
      loop
         select
            accept Ask (High) (Item : in Integer) do
               Sum := Sum + 100 * Item;
            end Ask;
         or
            when Ask (High)'Count = 0 =>
               accept Ask (Middle) (Item : in Integer) do
                  Sum := Sum + 10 * Item;
               end Ask;
         or
            when Ask (High)'Count = 0 and Ask (Middle)'Count = 0 =>
               accept Ask (Low) (Item : in Integer) do
                  Sum := Sum + Item;
                  if Sum > 1_000 then
                     return;
                  end if;
                  Is_Due := True;
               end Ask;
         or
            accept Report do
               if not Is_Due then
                  requeue Release with abort;
               end if;
               Put_Line ("sum" & Integer'Image (Sum));
            end Report;
            Is_Due := False;
         or
            when Is_Due =>
               accept Release do
                  Put_Line ("released at" & Integer'Image (Sum));
               end Release;
         or
            terminate;
         end select;
      end loop;
   end Server;

   task Waiter;

   task body Waiter is
   begin
      Server.Report;
   end Waiter;

begin
   Server.Ask (High) (3);
   Server.Ask (Middle) (2);
   delay 0.05;
   Server.Ask (Low) (1);
   delay 0.05;
   Server.Report;
end Families;
