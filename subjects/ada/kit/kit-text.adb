with Ada.Text_IO;
with Kit.System_Calls; use Kit.System_Calls;

package body Kit.Text is

   use type C.int, C.long, C.size_t;

   Standard_Input  : constant File := 0;
   Standard_Output : constant File := 1;

   --  Requests ------------------------------------------------------------------------------------------------------

   Input      : String (1 .. 8192);
   Input_Next : Positive := 1;
   Input_Last : Natural  := 0;

   procedure Fill is
      --  Input_Last is 0 at the end of the input

      Got : C.long;
   begin
      loop
         Got := Read (Standard_Input, Input'Address, Input'Length);
         exit when Got >= 0 or else Errno /= Interrupted;
      end loop;
      Input_Next := 1;
      Input_Last := Natural (C.long'Max (Got, 0));
   end Fill;

   procedure Get_Line (Line : out String; Last : out Natural; Status : out Line_Status) is
      Next : Character;
   begin
      Line := (others => ' ');
      Last := 0;
      Status := Complete;
      loop
         if Input_Next > Input_Last then
            Fill;
            if Input_Last = 0 then
               Status := Ended;   --  half a line is no request
               return;
            end if;
         end if;
         Next := Input (Input_Next);
         Input_Next := Input_Next + 1;
         exit when Next = ASCII.LF;
         if Last < Line'Last then
            Last := Last + 1;
            Line (Last) := Next;
         else
            Status := Overlong;
         end if;
      end loop;
   end Get_Line;

   --  Answers -------------------------------------------------------------------------------------------------------

   Output      : String (1 .. 65_536);
   Output_Last : Natural := 0;

   procedure Flush is
      First : Positive := 1;
      Done  : C.long;
   begin
      while First <= Output_Last loop
         Done := Write (Standard_Output, Output (First)'Address, C.size_t (Output_Last - First + 1));
         if Done > 0 then
            First := First + Natural (Done);
         elsif Errno /= Interrupted then
            Output_Last := 0;
            raise Reader_Is_Gone with Strerror (Errno);
         end if;
      end loop;
      Output_Last := 0;
   end Flush;

   procedure Put (Text : String) is
   begin
      for Char of Text loop
         if Output_Last = Output'Last then
            Flush;
         end if;
         Output_Last := Output_Last + 1;
         Output (Output_Last) := Char;
      end loop;
   end Put;

   procedure End_Line is
   begin
      Put ((1 => ASCII.LF));
   end End_Line;

   procedure Put_Line (Text : String) is
   begin
      Put (Text);
      End_Line;
   end Put_Line;

   procedure End_Tests_Own_Lines is
      use type Ada.Text_IO.Count;
   begin
      if Ada.Text_IO.Col (Ada.Text_IO.Standard_Output) > 1 then
         Ada.Text_IO.New_Line (Ada.Text_IO.Standard_Output);
      end if;
      Ada.Text_IO.Flush (Ada.Text_IO.Standard_Output);
      Ada.Text_IO.Flush (Ada.Text_IO.Standard_Error);
   end End_Tests_Own_Lines;

   --  Images --------------------------------------------------------------------------------------------------------

   function Trimmed (Text : String) return String
   is (if Text (Text'First) = ' ' then Text (Text'First + 1 .. Text'Last) else Text);

   function Image (Value : Nanoseconds) return String
   is (Trimmed (Value'Image));

   function Image (Value : Iterations) return String
   is (Trimmed (Value'Image));

   function Image (Value : Checksum) return String
   is (Trimmed (Value'Image));

   Hexadecimal : constant String (1 .. 16) := "0123456789ABCDEF";

   function Escaped (Value : String) return String is
      Result : String (1 .. 3 * Value'Length);
      Last   : Natural := 0;
   begin
      for Char of Value loop
         if Char <= ' ' or else Char = '%' or else Char = '=' then
            Result (Last + 1 .. Last + 3) :=
              ('%', Hexadecimal (Character'Pos (Char) / 16 + 1), Hexadecimal (Character'Pos (Char) mod 16 + 1));
            Last := Last + 3;
         else
            Last := Last + 1;
            Result (Last) := Char;
         end if;
      end loop;
      return Result (1 .. Last);
   end Escaped;

   function On_One_Line (Value : String) return String is
   begin
      return Result : String := Value do
         for Char of Result loop
            if Char < ' ' then
               Char := ' ';
            elsif Char > '~' then
               Char := '?';
            end if;
         end loop;
      end return;
   end On_One_Line;

end Kit.Text;
