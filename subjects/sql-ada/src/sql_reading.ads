--  Connections and queries

package Sql_Reading is

   procedure Register;

end Sql_Reading;
