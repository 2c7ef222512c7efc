package body Fields is

   use type Kit.Checksum;

   Columns : constant := 160;

   Field : array (Part, 1 .. Columns) of Kit.Checksum := (others => (others => 0))
     with Volatile_Components;

   -----------
   -- Total --
   -----------

   protected body Total is

      procedure Add (What : Kit.Checksum) is
      begin
         So_Far := So_Far + What;
      end Add;

      function Sum return Kit.Checksum
      is (So_Far);

   end Total;

   ----------
   -- Fill --
   ----------

   procedure Fill (Its_Part : Part; Written : in out Total) is
      Value : Kit.Checksum := Kit.Checksum (Its_Part);
      Sum   : Kit.Checksum := 0;
   begin
      for Column in Field'Range (2) loop
         Value := Value * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407;
         Field (Its_Part, Column) := Value;
         Sum := Sum + Value;
      end loop;
      Written.Add (Sum);
      if Kit.Reporting then
         Kit.Thread_Reports ("partner");
      end if;
   end Fill;

end Fields;
