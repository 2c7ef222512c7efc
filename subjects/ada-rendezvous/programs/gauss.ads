--  Gauss and Seidel's iteration in all variants

package Gauss is

   procedure Register;

end Gauss;
