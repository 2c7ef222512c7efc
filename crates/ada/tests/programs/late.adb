--  A delay alternative under a handler: what it raises is handled as the task would

with Ada.Text_IO; use Ada.Text_IO;

procedure Late is

   Wrong : exception;

   task Server is
      entry Put (N : in Integer);
      entry Get (N : out Integer);
      entry Stop;
   end Server;

   task body Server is
      Sum   : Integer := 0;
      Times : Natural := 0;
   begin
      loop
         begin
            select
               accept Put (N : in Integer) do
                  if N < 0 then
                     raise Wrong;
                  end if;
                  Sum := Sum + N;
               end Put;
            or
               accept Get (N : out Integer) do
                  N := Sum * 10 + Times;
               end Get;
            or
               accept Stop;
               exit;
            or
               delay 0.4;
               Times := Times + 1;
               if Times > 1 then
                  raise Wrong;
               end if;
            end select;
         exception
            when Wrong =>
               Sum := Sum + 1;
               Times := 0;
         end;
      end loop;
   end Server;

   Result : Integer;
begin
   Server.Put (3);
   begin
      Server.Put (-1);
   exception
      when Wrong =>
         Put_Line ("wrong");
   end;
   delay 0.6;
   Server.Get (Result);
   Put_Line (Integer'Image (Result));
   delay 1.1;
   Server.Get (Result);
   Put_Line (Integer'Image (Result));
   Server.Stop;
end Late;
