--  The actual parameters of scalar calls, and what the callees keep. They are variables of a library package that the
--  hidden Kit.Increment might change, so that each iteration must load and store them

generic
   type Item is private;
package Call_Cells is

   type Row is array (1 .. 100) of Item;

   Actual : Row;
   Kept   : Row;

end Call_Cells;
