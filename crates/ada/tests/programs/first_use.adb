--  Task types that do something before their first accept: at the begin of the unit if all objects are seen there, or with the first call

with Ada.Text_IO; use Ada.Text_IO;

procedure First_Use is

   type Table is array (Positive range <>) of Integer;

   --  Squares are computed by a function of the program, which nobody can watch
   function Square (N : Integer) return Integer is
      Result : Integer := 0;
   begin
      for I in 1 .. N loop
         Result := Result + N;
      end loop;
      return Result;
   end Square;

   task type Store (Size : Positive) is
      entry Put (Place : in Positive; Value : in Integer);
      entry Get (Place : in Positive; Value : out Integer);
   end Store;

   task body Store is
      Items : Table (1 .. Size);
      Free  : Natural := Square (2);
   begin
      for I in Items'Range loop
         Items (I) := Square (I);
      end loop;
      loop
         select
            when Free > 0 =>
               accept Put (Place : in Positive; Value : in Integer) do
                  Items (Place) := Value;
               end Put;
               Free := Free - 1;
         or
            accept Get (Place : in Positive; Value : out Integer) do
               Value := Items (Place);
            end Get;
         or
            terminate;
         end select;
      end loop;
   end Store;

   --  Several stages, a family, and an end
   subtype Lane is Integer range 1 .. 2;

   task type Crossing is
      entry Enter (Lane);
      entry Leave (Passed : out Natural);
   end Crossing;

   task body Crossing is
      Open   : Lane;
      Passed : Natural := 0;
   begin
      Open := 1;
      if Square (Open) = 1 then
         Open := 2;
      end if;
      for Turn in 1 .. 3 loop
         accept Enter (Open);
         accept Leave (Passed : out Natural) do
            Crossing.Passed := Crossing.Passed + Turn;
            Passed := Crossing.Passed;
         end Leave;
         Open := 3 - Open;
      end loop;
   end Crossing;

   --  What prints when it is activated does so at the begin of the unit that has the objects
   task type Loud is
      entry Ask (Answer : out Integer);
   end Loud;

   task body Loud is
   begin
      Put_Line ("loud");
      loop
         select
            accept Ask (Answer : out Integer) do
               Answer := 42;
            end Ask;
         or
            terminate;
         end select;
      end loop;
   end Loud;

   --  An allocated one that prints has to stay a task
   task type Louder is
      entry Ask (Answer : out Integer);
   end Louder;

   task body Louder is
   begin
      Put_Line ("louder");
      accept Ask (Answer : out Integer) do
         Answer := 43;
      end Ask;
   end Louder;

   --  The time of a delay alternative begins where the object is activated
   task type Fuse (Length_Ms : Positive) is
      entry Cut;
   end Fuse;

   task body Fuse is
   begin
      select
         accept Cut;
      or
         delay Duration (Length_Ms) / 1000;
         Put_Line ("bang");
      end select;
   end Fuse;

   type Store_Access is access Store;

   type Road is record
      Length : Positive := 10;
      Narrow : Crossing;
   end record;

   type Louder_Access is access Louder;

   Small  : constant Store_Access := new Store (3);
   Large  : constant Store_Access := new Store (5);
   Street : Road;
   Voice  : Louder_Access;
   Value  : Integer;
   Passed : Natural;
begin
   Small.Get (3, Value);
   Put_Line (Integer'Image (Value));
   for I in 1 .. 6 loop
      select
         Large.Put (1 + I mod 5, I);
         Put_Line ("stored" & Integer'Image (I));
      or
         delay 0.1;
         Put_Line ("full");
      end select;
   end loop;
   Large.Get (2, Value);
   Put_Line (Integer'Image (Value));
   select
      Street.Narrow.Enter (1);
      Put_Line ("in the wrong lane");
   or
      delay 0.01;
      Put_Line ("waited");
   end select;
   for Turn in 1 .. 3 loop
      Street.Narrow.Enter (1 + Turn mod 2);
      Street.Narrow.Leave (Passed);
      Put_Line ("passed" & Natural'Image (Passed));
   end loop;
   begin
      Street.Narrow.Enter (1);
      Put_Line ("in a closed lane");
   exception
      when Tasking_Error =>
         Put_Line ("closed");
   end;
   Put_Line ("length" & Integer'Image (Street.Length));
   declare
      Speaker  : Loud;
      Speakers : array (1 .. 2) of Loud;
   begin
      Speaker.Ask (Value);
      Speakers (2).Ask (Value);
      Put_Line (Integer'Image (Value));
   end;
   Voice := new Louder;
   Voice.Ask (Value);
   Put_Line (Integer'Image (Value));
   declare
      Long  : Fuse (5_000);
      Short : Fuse (150);
   begin
      Long.Cut;
      delay 0.4;
      Put_Line ("cut");
   end;
end First_Use;
