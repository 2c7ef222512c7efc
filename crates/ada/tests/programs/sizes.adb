--  Servers whose stores have sizes that were written as variables.

with Ada.Text_IO; use Ada.Text_IO;

procedure Sizes is

   --  Hides nothing: the server's own size gets another name outside it.
   Size : Integer := 3;

   --  Translated: its size never changes, so it becomes the constant that it is.
   task type Store is
      entry Put (X : Integer);
      entry Get (X : out Integer);
   end Store;

   --  Kept: its size is changed, after the table got the old one.
   task Ledger is
      entry Enter (X : Integer);
   end Ledger;

   task body Store is
      Count      : Integer := 0;
      --  The places.
      Size       : Integer := 8;
      Table      : array (0 .. Size - 1) of Integer;
      Head, Tail : Integer range 0 .. Size - 1 := 0;
   begin
      loop
         select
            when Count < Size =>
               accept Put (X : Integer) do
                  Table (Head) := X;
               end Put;
               Head := (Head + 1) mod Size;
               Count := Count + 1;
         or
            when Count > 0 =>
               accept Get (X : out Integer) do
                  X := Table (Tail);
               end Get;
               Tail := (Tail + 1) mod Size;
               Count := Count - 1;
         or
            terminate;
         end select;
      end loop;
   end Store;

   task body Ledger is
      Size  : Integer := 4;
      Table : array (1 .. Size) of Integer := (others => 0);
   begin
      Size := 2;
      loop
         select
            accept Enter (X : Integer) do
               Table (Table'Last) := Table (Size) + X;
               Put_Line ("ledger" & Table (Table'Last)'Image);
            end Enter;
         or
            terminate;
         end select;
      end loop;
   end Ledger;

   S : Store;
begin
   S.Put (Size);
   S.Put (Size + 1);
   S.Get (Size);
   Put_Line (Size'Image);
   S.Get (Size);
   Put_Line (Size'Image);
   Ledger.Enter (Size);
end Sizes;
