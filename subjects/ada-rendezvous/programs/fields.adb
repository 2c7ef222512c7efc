package body Fields is

   use type Kit.Checksum;

   Columns : constant := 160;

   Field : array (Part, 1 .. Columns) of Kit.Checksum := (others => (others => 0))
     with Volatile_Components;

   function Fill (Its_Part : Part) return Kit.Checksum is
      Value : Kit.Checksum := Kit.Checksum (Its_Part);
      Sum   : Kit.Checksum := 0;
   begin
      for Column in Field'Range (2) loop
         Value := Value * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407;
         Field (Its_Part, Column) := Value;
         Sum := Sum + Value;
      end loop;
      return Sum;
   end Fill;

end Fields;
