with Database;
with Laboratory;

package body Sql is

   use type Driver.Connection;

   Its_Own : Driver.Connection := Driver.Not_Connected;

   Filled : Boolean := False;

   procedure Fill;

   ---------
   -- Own --
   ---------

   function Own return Driver.Connection is
   begin
      if Its_Own = Driver.Not_Connected then
         Its_Own := Driver.Connect;
         Database.Settle (Its_Own);
      end if;
      if not Filled then
         Fill;
         Filled := True;
      end if;
      return Its_Own;
   end Own;

   ----------
   -- Fill --
   ----------

   procedure Fill is
      Table : constant String := Laboratory.Rows_Table;
      Value : Natural;
   begin
      Driver.Run (Its_Own, "DROP TABLE IF EXISTS " & Table);
      Driver.Run (Its_Own, "CREATE TABLE " & Table & " (" & Database.Columns & ")");
      Driver.Start_Transaction (Its_Own);
      for Key in 1 .. Rows_Most loop
         --  The same in all languages
         Value := 7919 * Key mod 10_007;
         Driver.Change
           (Its_Own, "INSERT INTO " & Table & " (id, value) VALUES (" & Key'Image & "," & Value'Image & ")", 1);
      end loop;
      Driver.Commit (Its_Own);
   end Fill;

   -------------
   -- Nothing --
   -------------

   procedure Nothing (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      Sum := 0;
      while Index < Count loop
         Sum := Sum + Kit.Checksum (Index);
         Kit.Increment (Index);
      end loop;
   end Nothing;

end Sql;
