--  How many places a symbol table has: some for each name of a document.
package Table_Size is
   pragma Pure;

   Places : constant := 2**10;

end Table_Size;
