--  Loops whose ranges are known by their subtypes: not empty around an accept, short behind one.

with Ada.Text_IO; use Ada.Text_IO;

procedure Ranges is

   type Room is (Hall, Kitchen, Cellar);
   subtype Guest_Count is Positive range 1 .. 9;
   Chairs : constant array (Room) of Guest_Count range 2 .. Guest_Count'Last :=
     (Hall => 3, Kitchen => 2, Cellar => 2);
   Shelf_Size : constant := 2 * 2 + 1;
   type Shelf is array (1 .. Shelf_Size) of Natural;

   --  Waits for as many guests as the room has chairs, which are never none.
   task Butler is
      entry Open (Where : Room);
      entry Enter (Name : Character);
   end Butler;

   --  Shows the whole shelf after each change.
   task Store is
      entry Put (Place : Positive; Amount : Natural);
   end Store;

   --  Kept: it goes on for long after its caller went.
   task Printer is
      entry Print (Copies : Positive);
   end Printer;

   task body Butler is
      Chosen : Room := Hall;
   begin
      loop
         select
            accept Open (Where : Room) do
               Chosen := Where;
            end Open;
            for Guest in 1 .. Chairs (Chosen) loop
               accept Enter (Name : Character) do
                  Put_Line (Name & Guest'Image & " of" & Chairs (Chosen)'Image);
               end Enter;
            end loop;
            Put_Line (Chosen'Image & " is full");
         or
            terminate;
         end select;
      end loop;
   end Butler;

   task body Store is
      Content : Shelf := (others => 0);
      procedure Show is
      begin
         for Place in Shelf'Range loop
            Put (Content (Place)'Image);
         end loop;
         New_Line;
      end Show;
   begin
      loop
         select
            accept Put (Place : Positive; Amount : Natural) do
               Content (Place) := Content (Place) + Amount;
            end Put;
            Show;
            for Where in Room range Kitchen .. Cellar loop
               Put_Line ("told the " & Where'Image);
            end loop;
         or
            terminate;
         end select;
      end loop;
   end Store;

   task body Printer is
      Wanted : Positive;
   begin
      loop
         select
            accept Print (Copies : Positive) do
               Wanted := Copies;
            end Print;
            for Copy in 1 .. Wanted loop
               Put_Line ("copy" & Copy'Image);
            end loop;
         or
            terminate;
         end select;
      end loop;
   end Printer;

begin
   Butler.Open (Hall);
   for Name in Character range 'a' .. 'c' loop
      Butler.Enter (Name);
   end loop;
   Butler.Open (Cellar);
   Butler.Enter ('x');
   Butler.Enter ('y');
   Store.Put (2, 7);
   Store.Put (5, 1);
   delay 0.2;
   Printer.Print (2);
end Ranges;
