with Ada.Unchecked_Conversion;
with Switches;

package body Gauss_Seidel is

   use Kit;

   Rows : constant := 96;

   subtype Colour is Natural range 0 .. 1;
   --  Red and black: the parity of row and column

   type Grids is array (0 .. Rows + 1, 0 .. Client_Number'Last + 1) of Long_Float
     with Volatile_Components;
   --  Edges and all

   Grid : Grids := (others => (others => 0.0));
   --  Of its upper edge only what Warmth says counts

   Still : constant Grids := (others => (others => 0.0));
   --  The neighbours of those who work alone: nobody writes it, so that the result does not depend on who is quicker

   ------------
   -- Set_Up --
   ------------

   procedure Set_Up (Clients : Client_Number) is
   begin
      Expect (Clients);
   end Set_Up;

   -----------
   -- Clear --
   -----------

   procedure Clear (Clients : Client_Number) is
   begin
      for Row in Grid'Range (1) loop
         for Column in 0 .. Clients + 1 loop
            Grid (Row, Column) := 0.0;
         end loop;
      end loop;
   end Clear;

   function Warmth (Round : Iterations) return Long_Float
   is (Long_Float (Round mod 8));

   -------------
   -- Compute --
   -------------

   procedure Compute (Column : Client_Number; Its_Colour : Colour; Round : Iterations; Beside : Grids) is
      Row : Positive := 1 + (Column + Its_Colour) mod 2;
   begin
      while Row <= Rows loop
         Grid (Row, Column) :=
           ((if Row = 1 then Warmth (Round) else Grid (Row - 1, Column))
            + Grid (Row + 1, Column) + Beside (Row, Column - 1) + Beside (Row, Column + 1)) / 4.0;
         Row := Row + 2;
      end loop;
   end Compute;

   ------------------
   -- Await_Others --
   ------------------

   procedure Await_Others is
   begin
      Switches.Note;
      Arrive;
      Switches.Note;
      Pass;
      Switches.Note;
   end Await_Others;

   ------------
   -- Sum_Of --
   ------------

   function Sum_Of (Column : Client_Number) return Checksum is
      function Bits is new Ada.Unchecked_Conversion (Long_Float, Checksum);
   begin
      return Sum : Checksum := 0 do
         for Row in 1 .. Rows loop
            Sum := Sum + Bits (Grid (Row, Column));
         end loop;
      end return;
   end Sum_Of;

   -------------
   -- Iterate --
   -------------

   procedure Iterate (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Rounds loop
         for Its_Colour in Colour loop
            Compute (Client, Its_Colour, Index, Beside => Grid);
            Await_Others;
         end loop;
         Increment (Index);
      end loop;
      Sum := Sum_Of (Client);
   end Iterate;

   -------------------
   -- Iterate_Alone --
   -------------------

   procedure Iterate_Alone (Client : Client_Number; Rounds : Iterations; Sum : out Checksum) is
      Index : Iterations := 0;
   begin
      while Index < Rounds loop
         for Its_Colour in Colour loop
            Compute (Client, Its_Colour, Index, Beside => Still);
         end loop;
         Increment (Index);
      end loop;
      Sum := Sum_Of (Client);
   end Iterate_Alone;

end Gauss_Seidel;
