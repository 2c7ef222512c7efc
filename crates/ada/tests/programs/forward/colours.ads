package Colours is

   type Colour is (Red, Green, Blue);

   function Next (C : Colour) return Colour is
     (if C = Blue then Red else Colour'Succ (C));

end Colours;
