--  Under Ceiling_Locking the objects have the highest priority of the callers and of the task

pragma Locking_Policy (Ceiling_Locking);
pragma Task_Dispatching_Policy (FIFO_Within_Priorities);

with Ada.Text_IO; use Ada.Text_IO;

procedure Ceilings_Kept is

   pragma Priority (5);

   task Store is
      pragma Priority (9);
      entry Put (N : in Natural);
      entry Get (N : out Natural);
      entry Stop;
   end Store;

   task body Store is
      Sum : Natural := 0;
   begin
      loop
         select
            accept Put (N : in Natural) do
               Sum := Sum + N;
            end Put;
         or
            accept Get (N : out Natural) do
               N := Sum;
            end Get;
         or
            accept Stop;
            exit;
         end select;
      end loop;
   end Store;

   --  Its calls are requeued, and it ends with its clients: the default
   task Desk is
      pragma Priority (7);
      entry Ask (N : in Natural);
      entry Later (N : in Natural);
   end Desk;

   task body Desk is
   begin
      loop
         select
            accept Ask (N : in Natural) do
               if N > 1 then
                  requeue Later;
               end if;
               Put_Line ("one");
            end Ask;
         or
            accept Later (N : in Natural) do
               Put_Line ("later" & Natural'Image (N));
            end Later;
         or
            terminate;
         end select;
      end loop;
   end Desk;

   procedure Work is
      task type Client is
         pragma Priority (12);
      end Client;

      task body Client is
      begin
         for I in 1 .. 5 loop
            Store.Put (I);
         end loop;
      end Client;

      Clients : array (1 .. 2) of Client;
      pragma Unreferenced (Clients);
   begin
      Desk.Ask (1);
      Desk.Ask (2);
   end Work;

   N : Natural;
begin
   Work;
   Store.Get (N);
   Put_Line (Natural'Image (N));
   Store.Stop;
end Ceilings_Kept;
