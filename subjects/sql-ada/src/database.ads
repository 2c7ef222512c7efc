--  What differs by database, whatever drives it

with Driver;

package Database is

   function Columns return String;
   --  Of CREATE TABLE: a key that counts by itself, and a value

   function Parameter return String;
   --  As it stands in a prepared statement

   function First return String;
   --  How a prepared statement asks for so many rows, the parameter behind it: newer libraries of SQLite prepare one anew
   --  whenever the parameter of its LIMIT is bound

   function No_Result return String;
   --  The cheapest statement that has none

   procedure Settle (On : Driver.Connection);
   --  Sees that the database keeps the settings that costs are compared under; the servers have confirmed theirs

end Database;
