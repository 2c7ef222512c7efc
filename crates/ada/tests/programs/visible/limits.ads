package Limits is

   Start_At : constant Natural := 40;

end Limits;
