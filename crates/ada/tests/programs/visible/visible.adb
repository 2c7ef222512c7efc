with Ada.Calendar;          use Ada.Calendar;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Text_IO;
with Clerks;

procedure Visible is
   Line    : Unbounded_String;
   Is_Late : Boolean;
   Total   : Natural;
begin
   Clerks.Noter.Note (To_Unbounded_String ("one"), Time_Of (2022, 1, 1));
   Clerks.Noter.Note (To_Unbounded_String ("two"), Time_Of (2023, 1, 1));
   Clerks.Noter.Last (Line, Is_Late);
   Clerks.Meter.Add (3);
   Clerks.Meter.Read (Total);
   Ada.Text_IO.Put_Line (To_String (Line) & Is_Late'Image & Total'Image);
   Clerks.Sieve.Drop ('a', Is_Late);
   Ada.Text_IO.Put_Line (Is_Late'Image);
end Visible;
