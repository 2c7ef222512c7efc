with Ada.Strings.Fixed;
with Kit.Text;

package body Kit.Requests is

   function Parsed (Line : String) return Request is
      Result : Request;

      procedure Take (Word : String);

      procedure Take (Word : String) is
         Equals : constant Natural := Ada.Strings.Fixed.Index (Word, "=");
      begin
         if Word = "" then
            raise Bad_Argument with "words are separated by single spaces";
         elsif Equals = 0 or else Result.Words.Is_Empty then
            if not Result.Fields.Is_Empty then
               raise Bad_Argument with "word " & Word & " stands after the key=value fields";
            end if;
            Result.Words.Append (Word);
         else
            if Has (Result, Word (Word'First .. Equals - 1)) then
               raise Bad_Argument with "field " & Word (Word'First .. Equals - 1) & " is given twice";
            end if;
            Result.Fields.Insert (Word (Word'First .. Equals - 1), Word (Equals + 1 .. Word'Last));
         end if;
      end Take;

      First : Positive := Line'First;
   begin
      for I in Line'Range loop
         if Line (I) = ' ' then
            Take (Line (First .. I - 1));
            First := I + 1;
         end if;
      end loop;
      Take (Line (First .. Line'Last));
      return Result;
   end Parsed;

   function Verb (From : Request) return String
   is (From.Words.First_Element);

   procedure Check_Word_Count (From : Request; Expected : Natural; Form : String) is
   begin
      if Natural (From.Words.Length) /= Expected + 1 then
         raise Bad_Argument with "the request is: " & Form;
      end if;
   end Check_Word_Count;

   function Word (From : Request; Position : Positive) return String
   is (From.Words (Position + 1));

   function Number (Text, Meaning : String; Least, Most : Checksum) return Checksum is
      Value : Checksum := 0;
      Digit : Checksum;
   begin
      if Text = "" or else (for some C of Text => C not in '0' .. '9') then
         raise Bad_Argument with Meaning & " is a decimal number, not """ & Text & """";
      end if;
      for C of Text loop
         Digit := Character'Pos (C) - Character'Pos ('0');
         if Digit > Most or else Value > (Most - Digit) / 10 then
            raise Bad_Argument with Meaning & " is at most " & Kit.Text.Image (Most);
         end if;
         Value := 10 * Value + Digit;
      end loop;
      if Value < Least then
         raise Bad_Argument with Meaning & " is at least " & Kit.Text.Image (Least);
      end if;
      return Value;
   end Number;

   function Has (From : Request; Key : String) return Boolean
   is (From.Fields.Contains (Key));

   function Field (From : Request; Key : String; Least, Most : Checksum) return Checksum is
   begin
      if not Has (From, Key) then
         raise Bad_Argument with Verb (From) & " needs the field " & Key & "=";
      end if;
      return Number (From.Fields (Key), Key, Least, Most);
   end Field;

end Kit.Requests;
