--  Statements that write. What was written is counted after each slice, untimed

package Sql_Writing is

   procedure Register;

end Sql_Writing;
