--  PostgreSQL

package body Database is

   function Columns return String is ("id SERIAL PRIMARY KEY, value INTEGER");

   function Parameter return String is ("$1");

   function First return String is ("LIMIT");

   function No_Result return String is ("SET statement_timeout TO 0");

   procedure Settle (On : Driver.Connection) is
   begin
      --  Its client library writes notices to standard error, such as that a table to be dropped is not there
      Driver.Run (On, "SET client_min_messages TO warning");
   end Settle;

end Database;
