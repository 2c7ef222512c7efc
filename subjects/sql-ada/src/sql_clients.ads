--  Several connections at once, each with a task of its own: an operation is a query of ten rows by each of them. The
--  control is the same without queries

package Sql_Clients is

   procedure Register;

end Sql_Clients;
