--  Accepts before and after the loop, an exit, and statements around them

with Ada.Text_IO; use Ada.Text_IO;

procedure Prologue is

   task Server is
      entry Open (Capacity : in Positive);
      entry Put (Item : in Integer);
      entry Get (Item : out Integer);
      entry Close (Left : out Natural);
   end Server;

   task body Server is
      Limit : Positive;
      Count : Natural;
      Sum   : Integer;
      Over  : Boolean := False;
   begin
      Count := 0;
      Sum := 0;
      accept Open (Capacity : in Positive) do
         Limit := Capacity;
      end Open;
      loop
         select
            when Count < Limit =>
               accept Put (Item : in Integer) do
                  Sum := Sum + Item;
               end Put;
               Count := Count + 1;
               --  A negative item ends the service
               Over := Sum < 0;
         or
            when Count > 0 =>
               accept Get (Item : out Integer) do
                  Item := Sum / Count;
               end Get;
               Count := Count - 1;
         end select;
         exit when Over;
      end loop;
      accept Close (Left : out Natural) do
         Left := Count;
      end Close;
   end Server;

   task Producer;

   task body Producer is
   begin
      for I in 1 .. 8 loop
         Server.Put (I);
      end loop;
   end Producer;

   Item : Integer;
   Left : Natural;
begin
   Server.Open (4);
   for I in 1 .. 8 loop
      Server.Get (Item);
   end loop;
   Server.Put (-1000);
   select
      Server.Get (Item);
      Put_Line ("got an item of a server that is over");
   else
      Put_Line ("nothing to get");
   end select;
   Server.Close (Left);
   Put_Line ("left:" & Natural'Image (Left));
   begin
      Server.Put (1);
      Put_Line ("put into a closed server");
   exception
      when Tasking_Error =>
         Put_Line ("closed");
   end;
end Prologue;
