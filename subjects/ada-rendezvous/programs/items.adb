package body Items is

   Steps : constant := 160;

   function Worked_On (X : Item) return Item is
      Value : Item := X;
   begin
      for Step in 1 .. Steps loop
         Value := Value * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407;   --  docs/reference/subject-protocol.md
      end loop;
      return Value;
   end Worked_On;

end Items;
