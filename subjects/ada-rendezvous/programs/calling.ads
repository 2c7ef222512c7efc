--  The calling server in all variants

package Calling is

   procedure Register;

end Calling;
