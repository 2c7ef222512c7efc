--  One turn of the paper's loop L4 and of its two variants. An object is an array of INTEGERs (its two bounds come
--  on top, as its length is only known when the loop runs); its first and last element and one of each page are
--  assigned, so that the memory is real.

with Kit;

package Features_Storage_Loops is

   Turns_Max : constant := 1_000_000;

   procedure Prepare (Arg : Kit.Argument);
   --  Objects of Arg bytes

   procedure Keep (Index : Kit.Iterations);
   --  L4: a pointer to each object remains

   procedure Keep_Two (Index : Kit.Iterations);
   --  Two access variables: the object of two turns ago can no longer be reached

   procedure Deallocate (Index : Kit.Iterations);
   --  Two access variables, and Unchecked_Deallocation of the object of two turns ago

   procedure Release (Arg : Kit.Argument);
   --  Gives everything back

end Features_Storage_Loops;
