--  PostgreSQL

with GNATCOLL.SQL.Postgres;
with Laboratory; use Laboratory;

package body Described is

   function Columns return String is ("id SERIAL PRIMARY KEY, value INTEGER");

   function Parameter return String is ("$1");

   function No_Result return String is ("SET statement_timeout TO 0");

   Its_Description : Database_Description;

   function Description return Database_Description is
   begin
      if Its_Description = null then
         Its_Description :=
           GNATCOLL.SQL.Postgres.Setup
             (Database => Told ("NAME"),
              User     => Told ("USER"),
              Host     => Told ("HOST"),
              Password => Told ("PASSWORD"),
              Port     => Integer'Value (Told ("PORT")),
              SSL      => GNATCOLL.SQL.Postgres.Disable);
      end if;
      return Its_Description;
   end Description;

   procedure Settle (On : Database_Connection) is
   begin
      --  Its client library writes notices to standard error, such as that a table to be dropped is not there
      Execute (On, "SET client_min_messages TO warning");
      if not On.Success then
         raise Failed with On.Last_Error_Message;
      end if;
   end Settle;

end Described;
