--  Dynamic allocation: what storage costs that is taken on entry to a subprogram or block, and by `new`.
--
--  fixed     a procedure with local objects of a known size, against one without. The objects are held in memory by an
--            empty machine instruction that is said to write them, which costs nothing; without it the compiler would
--            see that nobody reads them
--  dynamic   an array bounded by variables, in a procedure (against a null procedure) or in a block (against none)
--  new       a function that allocates, against one that returns null. What it gave is kept until the slice has ended
--            and released then, untimed (Allocation_Rings tells the limits)
--  new_free  a procedure that allocates and deallocates, against a null procedure

package Features_Allocation is

   procedure Register;

end Features_Allocation;
