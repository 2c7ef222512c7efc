--  MariaDB

package body Database is

   function Columns return String is ("id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER");

   function Parameter return String is ("?");

   function First return String is ("LIMIT");

   function No_Result return String is ("DO 1");

   procedure Settle (On : Driver.Connection) is null;

end Database;
