package body Documents is

   Elements : constant := 50;
   --  Of a document.

   Kinds : constant := 20;
   --  Names of elements that a document chooses from.

   procedure Write (Number : Positive; Into : out Text; Last : out Natural) is

      procedure Add (Part : String);

      procedure Add (Part : String) is
      begin
         Into (Last + 1 .. Last + Part'Length) := Part;
         Last := Last + Part'Length;
      end Add;

      function Digits_Of (Value : Natural) return String;

      function Digits_Of (Value : Natural) return String is
         Image : constant String := Value'Image;
      begin
         return Image (Image'First + 1 .. Image'Last);
      end Digits_Of;

   begin
      Into := (others => ' ');
      Last := 0;
      for Element in 1 .. Elements loop
         Add ("<element_" & Digits_Of ((Number * 7 + Element * Element) mod Kinds));
         Add (" key_" & Digits_Of ((Number + Element) mod (2 * Kinds)));
         Add ("=""value " & Digits_Of (Element) & """/>" & ASCII.LF);
      end loop;
   end Write;

end Documents;
