--  PostgreSQL

with GNATCOLL.SQL.Postgres;
with Laboratory; use Laboratory;

package body Described is

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

end Described;
