--  Task types: objects, arrays, access values, discriminants; tasks that call their neighbours

with Ada.Text_IO; use Ada.Text_IO;

procedure Cells is

   type Cell;
   type Cell_Access is access Cell;

   task type Cell (Factor : Integer) is
      pragma Storage_Size (64 * 1024);
      entry Join (Right : in Cell_Access);
      entry Put (X : in Integer);
      entry Get (X : out Integer);
      entry Stop;
   end Cell;

   task body Cell is
      Neighbour : Cell_Access;
      Sum : Integer := 0;
   begin
      accept Join (Right : in Cell_Access) do
         Neighbour := Right;
      end Join;
      loop
         select
            accept Put (X : in Integer) do
               Sum := Sum + Factor * X;
               if Neighbour /= null then
                  Neighbour.Put (X);
               end if;
            end Put;
         or
            accept Get (X : out Integer) do
               X := Sum;
            end Get;
         or
            accept Stop;
            exit;
         end select;
      end loop;
   end Cell;

   procedure Show (C : in out Cell) is
      X : Integer;
   begin
      C.Get (X);
      Put_Line (Integer'Image (X));
   end Show;

   Single : Cell (5);
   Row : array (1 .. 3) of Cell_Access;
   X : Integer;
begin
   for I in Row'Range loop
      Row (I) := new Cell (I);
   end loop;
   Row (1).Join (Row (2));
   Row (2).Join (Row (3));
   Row (3).Join (null);
   Single.Join (Row (1));
   Single.Put (2);
   Row (2).all.Put (1);
   Show (Single);
   for C of Row loop
      C.Get (X);
      Put_Line (Integer'Image (X));
   end loop;
   Single.Stop;
   for C of Row loop
      C.Stop;
   end loop;
   while not Single'Terminated loop
      delay 0.001;
   end loop;
   begin
      Single.Put (1);
   exception
      when Tasking_Error =>
         Put_Line ("gone");
   end;
end Cells;
