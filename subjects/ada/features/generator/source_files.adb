with Ada.Characters.Handling;
with Ada.Text_IO; use Ada.Text_IO;

package body Source_Files is

   Output : File_Type;

   Line_Length_Max : constant := 116;

   procedure Open (Unit : String; Is_Body : Boolean; Purpose : String) is
   begin
      Create
        (Output, Out_File, Ada.Characters.Handling.To_Lower (Unit) & (if Is_Body then ".adb" else ".ads"));
      Put (0, "--  " & Purpose & ". Written by generator/ when the subject was built");
      Blank;
   end Open;

   procedure Open_Package
     (Unit : String; Is_Body : Boolean; Purpose : String; Context : String := ""; Formals : String := "") is
   begin
      Open (Unit, Is_Body, Purpose);
      if Context /= "" then
         Put (0, Context);
         Blank;
      end if;
      if Formals /= "" then
         Put (0, "generic");
         Put (0, Formals);
      end if;
      Put (0, "package " & (if Is_Body then "body " else "") & Unit & " is");
      Blank;
   end Open_Package;

   procedure Close_Package (Unit : String) is
   begin
      Put (0, "end " & Unit & ';');
      Close;
   end Close_Package;

   procedure Put (Indent : Natural; Line : String) is
   begin
      Put_Line (Output, (1 .. 3 * Indent => ' ') & Line);
   end Put;

   procedure Blank is
   begin
      New_Line (Output);
   end Blank;

   function Numeral (Value : Natural) return String
   is (Value'Image (2 .. Value'Image'Last));

   procedure Put_List (Indent : Natural; Before, Item_Before, Item_After, After : String; Count : Positive) is
      Margin : constant String := (1 .. 3 * Indent => ' ');
   begin
      Put (Output, Margin & Before);
      for I in 1 .. Count loop
         declare
            Item : constant String := Item_Before & Numeral (I) & Item_After & (if I < Count then "," else After);
         begin
            if Natural (Col (Output)) + 1 + Item'Length > Line_Length_Max then
               New_Line (Output);
               Put (Output, Margin & "  " & Item);
            else
               Put (Output, (if I = 1 then Item else ' ' & Item));
            end if;
         end;
      end loop;
      New_Line (Output);
   end Put_List;

   procedure Close is
   begin
      Close (Output);
   end Close;

   procedure Write_Registering_Spec (Unit, Purpose : String) is
   begin
      Open_Package (Unit, Is_Body => False, Purpose => Purpose);
      Put (1, "procedure Register;");
      Blank;
      Close_Package (Unit);
   end Write_Registering_Spec;

end Source_Files;
