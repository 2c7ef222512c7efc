--  How many places a symbol table has: far more than a document has names.
package Table_Size is
   pragma Pure;

   Places : constant := 2**16;

end Table_Size;
