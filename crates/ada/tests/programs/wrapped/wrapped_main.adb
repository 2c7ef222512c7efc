with Ada.Text_IO;
with Kennel;

procedure Wrapped_Main is
   Rex    : Kennel.Dog;
   Length : Natural;
begin
   Rex.Start (Duration (Kennel.Barks (2)), "sit");
   Rex.Ask (Length);
   Ada.Text_IO.Put_Line (Natural'Image (Length + Kennel.Growls (1)));
end Wrapped_Main;
