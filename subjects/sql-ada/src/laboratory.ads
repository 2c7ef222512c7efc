--  What the laboratory says of the database, and what a statement has to keep to

package Laboratory is

   Failed : exception;
   --  A statement failed, or met other rows than it should: a failure, never a time

   function Told (Name : String) return String;

   function Rows_Table return String is (Told ("TABLE") & "_rows");
   --  Of known values, never changed

   function Written_Table return String is (Told ("TABLE") & "_written");
   --  For tests that write

   procedure Expect (Found, Wanted : Natural);

end Laboratory;
